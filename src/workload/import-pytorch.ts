// Snapshots of PyTorch's caching allocator as JSON, with trace entries: what `torch.cuda.memory._snapshot()` gives, dumped.
// Each device's trace is a run. The entries of a trace may begin in the middle: what lived before is not known.
import { InputError } from "../base/errors.js";
import { producerBlock } from "../trace/header.js";
import type { TraceLine } from "../trace/lines.js";
import { below, shown } from "../trace/messages.js";
import { countField, logObject, own, textField } from "./import-fields.js";
import type { LogObject } from "./import-fields.js";
import type { ImportFormat, LogPlace, LogTranslator, TranslatorOptions } from "./import-format.js";
import { HeapRun } from "./import-heap.js";
import type { EventSpan } from "./import-heap.js";
import type { ImportCounts } from "./import-tally.js";
import { ImportTally } from "./import-tally.js";
import { JsonElements } from "./json-elements.js";
import type { JsonElement } from "./json-elements.js";

const NAME = "pytorch";
const LIST = "device_traces";

/** @internal */
export const PYTORCH: ImportFormat = {
  name: NAME,
  about: "memory snapshots of PyTorch as JSON, with trace entries (device_traces)",
  recognises: (head) => /^\s*\{\s*"(?:segments|device_traces|allocator_settings)"\s*:/.test(head),
  isComment: (text) => text.trim() === "",
  open: (options) => new SnapshotTranslator(options),
};

const WHY_NOT =
  "is a PyTorch execution trace: it holds operators and tensors, no allocator events; a memory snapshot (pytorch) does";

/** Execution traces: known, so that the refusal says why. @internal */
export const PYTORCH_ET: ImportFormat = {
  name: "pytorch-et",
  about: "PyTorch execution traces",
  isRefused: true,
  recognises: (head) => /^\s*\{\s*"schema"\s*:\s*"[\w.-]+"/.test(head),
  isComment: () => false,
  open: () => {
    const refuse = (file: string): never => {
      throw new InputError("input_format", WHY_NOT, { file, expected: `"${LIST}"` });
    };
    return {
      ready: [],
      take: (_, { file }) => refuse(file),
      finish: (file) => refuse(file),
      counts: () => new ImportTally().counts(0),
    };
  },
};

class SnapshotTranslator implements LogTranslator {
  readonly ready: TraceLine[] = [];
  readonly #options: TranslatorOptions;
  readonly #tally = new ImportTally();
  readonly #elements = new JsonElements(LIST, (element) => {
    this.#element(element);
  });
  #device: DeviceTrace | null = null;
  #live = 0; // objects of the devices that are done

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  take(text: string, place: LogPlace): void {
    this.#elements.take(text, place);
    if (this.#elements.members.includes("nodes") && this.#elements.members.includes("schema"))
      throw new InputError("input_format", WHY_NOT, { file: place.file, expected: `"${LIST}"` });
    this.#drain();
  }

  finish(file: string): void {
    this.#elements.finish(file);
    this.#closeDevice();
    if (this.#tally.events > 0) return;
    const message = this.#elements.members.includes(LIST)
      ? `${LIST} holds no entry: was the history recorded?`
      : `has no ${LIST}: a snapshot without history tells what lives, not what happened`;
    throw new InputError("input_format", message, { file, path: `/${LIST}`, expected: "entries" });
  }

  counts(): ImportCounts {
    return this.#tally.counts(this.#live);
  }

  #element({ outer, text, place }: JsonElement): void {
    if (this.#device?.index !== outer) {
      this.#closeDevice();
      const isFirst = this.#tally.events === 0;
      this.#device = new DeviceTrace(outer, this.#tally, this.#options, isFirst);
    }
    this.#device.entry(logObject(text, place), place);
  }

  #drain(): void {
    const lines = this.#device?.heap.ready;
    if (lines === undefined) return;
    for (const line of lines) this.ready.push(line);
    lines.length = 0;
  }

  #closeDevice(): void {
    const device = this.#device;
    if (device === null) return;
    device.close();
    this.#drain();
    this.#live += device.heap.live;
    this.#device = null;
  }
}

/** The entries of one device, in order. */
class DeviceTrace {
  readonly index: number;
  readonly heap: HeapRun;
  readonly #tally: ImportTally;
  readonly #hasTime: boolean;
  readonly #requested = new Map<string, number>(); // address → event of its `free_requested`
  #firstUs: number | null = null;
  #latestUs = 0;

  constructor(index: number, tally: ImportTally, options: TranslatorOptions, isFirst: boolean) {
    this.index = index;
    this.#tally = tally;
    this.#hasTime = options.time;
    this.heap = new HeapRun(`${NAME}/device-${index}`, tally);
    const producer = isFirst ? producerBlock(NAME, "unknown", null, null) : null;
    const source = { type: "import", name: NAME, device: index } as const;
    this.heap.open(producer, source, options.arenaBytes);
  }

  entry(entry: LogObject, place: LogPlace): void {
    const action = textField(entry, "action", place);
    const at = this.#event(entry, place);
    switch (action) {
      case "alloc":
        this.#alloc(entry, at, place);
        return;
      case "free_requested":
        this.#requested.set(address(entry, place), at.first);
        return;
      case "free_completed":
        this.#free(entry, at, place);
        return;
      case "oom": {
        const size = countField(entry, "size", place);
        this.heap.allocate(null, { size, ...stream(entry) }, at, place);
        return;
      }
      case "segment_alloc":
      case "segment_free":
      case "segment_map":
      case "segment_unmap":
        this.#tally.drop(`${action}: the allocator's own doing`);
        return;
      case "snapshot":
      case "user_defined":
        this.heap.mark(action);
        return;
      default:
        this.#tally.drop(`unknown action ${action}`);
        this.#tally.unknown += 1;
    }
  }

  close(): void {
    if (this.#requested.size > 0)
      this.#tally.drop("free that was requested and not completed", this.#requested.size);
    this.heap.close();
  }

  #alloc(entry: LogObject, at: EventSpan, place: LogPlace): void {
    const size = countField(entry, "size", place);
    this.heap.allocate(address(entry, place), { size, ...stream(entry) }, at, place);
  }

  /** A free takes effect when it is completed: until then the memory is nobody else's. */
  #free(entry: LogObject, at: EventSpan, place: LogPlace): void {
    const where = address(entry, place);
    const requested = this.#requested.get(where);
    this.#requested.delete(where);
    if (this.heap.object(where) === null) {
      this.#tally.drop(
        "free of what lived before the trace began",
        requested === undefined ? 1 : 2,
      );
      return;
    }
    const events = requested === undefined ? at : { ...at, first: requested, count: 2 };
    const size = countField(entry, "size", place);
    this.heap.free(where, events, place, { size, ...stream(entry) });
  }

  #event(entry: LogObject, place: LogPlace): EventSpan {
    const index = this.#tally.events;
    this.#tally.events += 1;
    const isTold = this.#hasTime && own(entry, "time_us") !== undefined;
    if (!isTold) return { first: index, last: index, count: 1, atUs: null };
    const us = countField(entry, "time_us", place);
    this.#firstUs ??= us;
    this.#latestUs = Math.max(this.#latestUs, us - this.#firstUs);
    return { first: index, last: index, count: 1, atUs: this.#latestUs };
  }
}

/** Dumped addresses are numbers, or texts in hex. Beyond 2^53 a number has lost its last bits, and two may be one. */
function address(entry: LogObject, place: LogPlace): string {
  const value = own(entry, "addr");
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0)
    return `0x${value.toString(16)}`;
  if (typeof value === "string" && /^0x[0-9a-f]{1,16}$/i.test(value)) {
    return `0x${BigInt(value).toString(16)}`;
  }
  const expected = "an address: a whole number below 2^53, or hex in quotes";
  const message = `addr must be ${expected}, found ${shown(value)}`;
  const at = { ...place, path: below((place as { path?: string }).path ?? "", "addr"), expected };
  throw new InputError("input_format", message, at);
}

function stream(entry: LogObject): { readonly stream?: string } {
  const value = own(entry, "stream");
  return typeof value === "number" || typeof value === "string" ? { stream: String(value) } : {};
}
