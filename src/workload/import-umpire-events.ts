// Umpire's event form: `category`, `name`, `numeric_args`, `string_args`, `tags`, `timestamp`, one event a line.
import type { LogPlace } from "./import-format.js";
import { addressField, countField, own, part, textField } from "./import-fields.js";
import type { LogObject } from "./import-fields.js";
import type { EventAt, UmpireRun } from "./import-umpire-run.js";

/** Parts of one event. */
interface Event {
  readonly numbers: LogObject;
  readonly texts: LogObject;
  readonly tags: LogObject;
  readonly at: EventAt;
  readonly place: LogPlace;
}

type Handler = (event: Event, run: UmpireRun) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  make_memory_resource: (event, run) => {
    makePool(event, run, "memory_resource");
  },
  make_allocator: (event, run) => {
    makePool(event, run, textField(event.texts, "type", event.place));
  },
  allocate: ({ numbers, texts, at, place }, run) => {
    const size = countField(numbers, "size", place);
    const pool = textField(texts, "allocator_ref", place);
    run.allocate(addressField(texts, "pointer", place), size, pool, at, place);
  },
  deallocate: ({ texts, at, place }, run) => {
    run.free(addressField(texts, "pointer", place), at, place);
  },
  reallocate: ({ numbers, texts, at, place }, run) => {
    const pool = textField(texts, "allocator_ref", place);
    if (own(texts, "new_ptr") === undefined) {
      const address = addressField(texts, "current_ptr", place);
      run.begin(pool, at, address, countField(numbers, "size", place));
    } else {
      run.reallocated(pool, addressField(texts, "new_ptr", place), pool, at, place);
    }
  },
  copy: ({ numbers, texts, at, place }, run) => {
    const copied = {
      from: addressField(texts, "src", place),
      fromOffset: offset(numbers, "src_offset", place),
      to: addressField(texts, "dst", place),
      toOffset: offset(numbers, "dst_offset", place),
      size: countField(numbers, "size", place),
    };
    run.copy(copied, at);
  },
  release: ({ texts, at, place }, run) => {
    run.release(textField(texts, "allocator_ref", place), at);
  },
  coalesce: ({ tags, at, place }, run) => {
    run.coalesce(textField(tags, "allocator_name", place), at);
  },
  set_default_allocator: (event, run) => {
    run.mark(`set_default_allocator ${named(event)}`);
  },
  // the allocation, the copy and the free of a move stand in the log before it
  move: (event, run) => {
    run.mark(`move to ${named(event)}`);
  },
  register_external_allocation: (event, run) => {
    const size = countField(event.numbers, "size", event.place);
    run.mark(`register_external_allocation of ${size} bytes in ${named(event)}`);
  },
  deregister_external_allocation: (_, run) => {
    run.mark("deregister_external_allocation");
  },
};

/** Hands one event to the run. Throws `InputError`. @internal */
export function translateEvent(
  event: LogObject,
  at: EventAt,
  run: UmpireRun,
  place: LogPlace,
): void {
  const category = textField(event, "category", place);
  const name = textField(event, "name", place);
  const numbers = part(event, "numeric_args", place);
  const texts = part(event, "string_args", place);
  if (category === "metadata" && name === "version") {
    run.version(versionOf(numbers), commitOf(texts));
    return;
  }
  if (category === "statistic") {
    run.drop("statistic");
    return;
  }
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (handler === undefined) run.unknown(name);
  else handler({ numbers, texts, tags: part(event, "tags", place), at, place }, run);
}

function makePool({ numbers, texts, tags, at, place }: Event, run: UmpireRun, type: string): void {
  const reference = textField(texts, "allocator_ref", place);
  const called = textField(tags, "allocator_name", place);
  const args: unknown[] = [];
  if (own(numbers, "introspection") !== undefined) {
    args.push(`introspection=${countField(numbers, "introspection", place)}`);
  }
  run.makePool(reference, called, type, [...args, ...numbered(numbers, texts)], at);
}

// `arg0`, `arg1`, … in their order; numbers and texts stand in two objects.
function numbered(numbers: LogObject, texts: LogObject): unknown[] {
  const found: [index: number, value: unknown][] = [];
  for (const args of [numbers, texts]) {
    for (const [key, value] of Object.entries(args)) {
      const index = /^arg(\d+)$/.exec(key)?.[1];
      if (index !== undefined) found.push([Number(index), value]);
    }
  }
  return found.sort(([left], [right]) => left - right).map(([, value]) => value);
}

function offset(numbers: LogObject, key: string, place: LogPlace): number {
  return own(numbers, key) === undefined ? 0 : countField(numbers, key, place);
}

function named({ tags }: Event): string {
  const name = own(tags, "allocator_name");
  return typeof name === "string" ? name : "an allocator";
}

/** `2022.3.1`; "unknown" where a part is missing. @internal */
export function versionOf(from: LogObject): string {
  const parts = ["major", "minor", "patch"].map((key) => own(from, key));
  return parts.every((value) => typeof value === "number") ? parts.join(".") : "unknown";
}

/** The commit, or null. @internal */
export function commitOf(from: LogObject): string | null {
  const commit = own(from, "rc");
  return typeof commit === "string" && commit !== "" ? commit : null;
}
