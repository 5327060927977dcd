// A device with real bytes: the simulated device keeps the books and says what is issued, an arena of bytes carries it out on
// its streams, and what the bytes hold is compared with the books.
import type { Lanes } from "../base/digest.js";
import { EnvironmentError, InternalError } from "../base/errors.js";
import { LaneSum, mixA, mixB } from "../base/digest.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../base/operations.js";
import type { ByteArena, ByteBackend, ByteConfig, ByteFault } from "./bytes.js";
import { deviceProblem, HASH } from "./bytes.js";
import { Script, VERB } from "./bytes-script.js";
import { ByteTap, type Delays, maskWordsOf } from "./byte-tap.js";
import type { Device, DeviceViolation, VerifyPolicy } from "./device.js";
import { ModelDevice } from "./model.js";
import type { BandPages } from "./model-pages.js";

const LOOK_EVERY = 64; // operations
const FAULTS_SHOWN = 1;
const ROW_PAGES_MAX = 2 ** 31 - 1;
const PAGE_FIELD = 0x5802; // as the simulated device's
const WORD = 4; // bytes: what is stamped and compared

/** @internal */
export interface ByteDeviceOptions {
  readonly verify: VerifyPolicy;
  readonly kind: "model" | "host" | "cuda";
  readonly backend: ByteBackend;
  readonly delays?: Delays | null;
  /** Operations between two looks at what changed. Default 64; Infinity: only `verifyAll` looks. */
  readonly lookEvery?: number;
  /** Whether the operations hold the engine's barriers; else the device puts its own. Default false. */
  readonly hasBarriers?: boolean;
}

/** What a band's live pages hold, id by id, as last looked at. */
class BandContents {
  readonly sum = new LaneSum();
  readonly #known = new Map<number, readonly [number, number]>();

  set(id: number, a: number, b: number): void {
    this.remove(id);
    if (a === 0 && b === 0) return;
    this.sum.a = (this.sum.a + mixA(PAGE_FIELD, id, a >>> 0)) | 0;
    this.sum.b = (this.sum.b + mixB(PAGE_FIELD, id, b >>> 0)) | 0;
    this.#known.set(id, [a, b]);
  }
  remove(id: number): void {
    const before = this.#known.get(id);
    if (before === undefined) return;
    this.sum.a = (this.sum.a - mixA(PAGE_FIELD, id, before[0] >>> 0)) | 0;
    this.sum.b = (this.sum.b - mixB(PAGE_FIELD, id, before[1] >>> 0)) | 0;
    this.#known.delete(id);
  }
}

/** Carries effects out on a backend's bytes. After the first violation a run is broken until the next `open`. @internal */
export class ByteDevice implements Device {
  readonly kind: "model" | "host" | "cuda";
  readonly #options: ByteDeviceOptions;
  readonly #model: ModelDevice;
  readonly #script = new Script();
  readonly #tap: ByteTap;
  #arena: ByteArena | null = null;
  #config: DirectConfig | null = null;
  #contents: BandContents[] = [];
  #operations = 0;
  #violation: DeviceViolation | null = null;

  constructor(options: ByteDeviceOptions) {
    this.kind = options.kind;
    this.#options = options;
    const run = (): ModelDevice["run"] => this.#model.run;
    this.#tap = new ByteTap(
      this.#script,
      run,
      options.delays ?? null,
      options.hasBarriers !== true,
    );
    this.#model = new ModelDevice({ verify: options.verify, tap: this.#tap });
  }

  /** Throws `EnvironmentError` where the device has not the memory. */
  open(config: DirectConfig, boot: BootOk): void {
    this.close();
    this.#model.open(config, boot);
    this.#violation = null;
    this.#operations = 0;
    this.#config = config;
    const byteConfig = this.#byteConfig(config);
    this.#arena = this.#guardMemory(() => this.#options.backend.open(byteConfig));
    this.#reset(byteConfig);
  }

  apply(operation: KvOperation, answer: Answer): DeviceViolation | null {
    if (this.#violation !== null) return this.#violation;
    this.#operations += 1;
    if (answer.ok !== undefined) this.#beforeOperation(operation);
    this.#violation = this.#model.apply(operation, answer);
    if (this.#violation !== null) return this.#violation;
    if (operation.op === "arena.resize" && answer.ok !== undefined) this.#resize();
    this.#submit();
    if (this.#options.verify === "every") this.#violation = this.#verify(this.#allLive());
    else if (this.#operations % (this.#options.lookEvery ?? LOOK_EVERY) === 0)
      this.#violation = this.#verify(null);
    return this.#violation;
  }

  verifyAll(): DeviceViolation | null {
    this.#violation ??= this.#model.verifyAll();
    if (this.#violation !== null) return this.#violation;
    this.#submit();
    this.#violation = this.#verify(this.#allLive());
    return this.#violation;
  }

  /** From the bytes themselves, all issued work done: what changed since the last time is read and hashed. */
  contents(band: string): Lanes {
    const { arena } = this.#model.run;
    const found = arena.bands.find((candidate) => candidate.name === band);
    if (found === undefined) throw new InternalError(`contents of ${band}, which is no band`);
    this.#look(found, this.#tap.takeDirty(found));
    const { sum } = this.#contents[found.index]!;
    return { a: sum.a, b: sum.b };
  }

  /** Waits for everything that was issued; for figures. */
  synchronize(): void {
    this.#script.verb(VERB.synchronize);
    this.#submit();
  }

  close(): void {
    this.#arena?.close();
    this.#arena = null;
    this.#model.close();
  }

  #beforeOperation(operation: KvOperation): void {
    // The driver's own synchronisation (docs/devices.md): it is no effect and changes no answer.
    switch (operation.op) {
      case "forward.process":
        this.#tap.hostWait(operation.args.step);
        return;
      case "host.backup_done":
      case "host.load_done":
        this.#tap.hostWait(operation.args.copy);
        return;
      case "net.end":
        this.#tap.hostWait(operation.args.transfer);
        return;
      default:
        return;
    }
  }

  #submit(): void {
    this.#tap.flush();
    if (this.#script.count === 0) return;
    try {
      this.#open().submit(this.#script.words, this.#script.count);
    } finally {
      this.#script.clear();
    }
  }

  #resize(): void {
    const config = this.#config;
    if (config === null) throw new InternalError("resize of a device that is not open");
    const byteConfig = this.#byteConfig(config);
    this.#guardMemory(() => {
      this.#open().resize(byteConfig);
    });
    this.#script.clear(); // nothing was live
    this.#reset(byteConfig);
    for (const row of this.#model.run.rows.open.values()) row.changedFrom = 0;
  }

  #reset({ bands }: ByteConfig): void {
    this.#tap.reset(bands.map(({ ids }) => ids));
    this.#contents = bands.map(() => new BandContents());
  }

  #byteConfig(config: DirectConfig): ByteConfig {
    const { arena, rows } = this.#model.run;
    const rowPages = rows.pagesOf(config.row_tokens) + 1;
    if (rowPages > ROW_PAGES_MAX) {
      const limit = `row_tokens is ${config.row_tokens}: rows of at most ${ROW_PAGES_MAX - 1} pages are held`;
      throw new EnvironmentError("device_unavailable", `device ${this.kind}: ${limit}`);
    }
    const scale = scaleOf(arena.bands);
    return {
      arenaBytes: Math.max(...arena.bands.map((band) => band.pages * band.pageBytes)) * scale,
      bands: arena.bands.map((band) => ({
        name: band.name,
        pageBytes: band.pageBytes * scale,
        pages: band.pages,
        firstPage: band.firstPage,
        units: band.units,
        // Windows also use the placeholders of loads, which lie behind the owner's ids.
        ids: band.isState ? band.pages : arena.owner.pages + (band.isWindow ? band.pages : 0),
        hostPages: config.host?.[band.name] ?? 0,
        isState: band.isState,
      })),
      rows: config.rows,
      rowPages,
      poison: true,
      checkReads: true,
      device: 0,
    };
  }

  #allLive(): readonly (readonly number[])[] {
    return this.#model.run.arena.bands.map((band) => [...band.liveIds()]);
  }

  /** Compares bytes with the books; null: of what changed since the last time. */
  #verify(ids: readonly (readonly number[])[] | null): DeviceViolation | null {
    const { bands } = this.#model.run.arena;
    for (const band of bands) {
      const changed = this.#look(band, this.#tap.takeDirty(band));
      const lost = changed ?? (ids === null ? null : this.#look(band, ids[band.index]!)); // one list a band
      if (lost !== null) return lost;
    }
    return this.#firstFault();
  }

  /** Reads pages of ids, notes what they hold, and says which one holds something else than it should. */
  #look(band: BandPages, ids: readonly number[]): DeviceViolation | null {
    const contents = this.#contents[band.index]!; // one a band, as below
    const words = maskWordsOf(band);
    const looked: number[] = [];
    for (const id of ids) {
      const page = band.placeOf(id);
      if (page !== 0 && !this.#tap.isReceiving(band, page)) looked.push(id);
      else if (page === 0 && !(band.isState && this.#model.run.unplaced.has(id)))
        contents.remove(id);
      else contents.set(id, band.issuedContent(id), band.issuedContentB(id)); // the books' own
    }
    if (looked.length === 0) return null;
    const pages = Int32Array.from(looked, (id) => band.placeOf(id));
    const masks = new Uint32Array(looked.length * words);
    for (const [index, id] of looked.entries())
      band.writeMask(id, masks.subarray(index * words, (index + 1) * words));
    const hashes = this.#open().hashPages(band.index, pages, masks);
    let lost: DeviceViolation | null = null;
    for (const [index, id] of looked.entries()) {
      const at = index * HASH.numbers;
      const [a, b] = [hashes[at + HASH.a]!, hashes[at + HASH.b]!]; // three numbers a page
      contents.set(id, a, b);
      if (a === band.issuedContent(id) >>> 0 && b === band.issuedContentB(id) >>> 0) continue;
      lost ??= this.#lost(band, id, hashes[at + HASH.torn]!);
    }
    return lost;
  }

  #lost(band: BandPages, id: number, torn: number): DeviceViolation {
    const { arena } = this.#model.run;
    const page = band.placeOf(id);
    const how = torn > 0 ? `${torn} of its units are torn` : "other stamps lie there";
    const message = `${arena.describe(band, page)} on device ${this.kind} does not hold what was written to it: ${how}`;
    return { check: "lost_write", message, band: band.name, page };
  }

  #firstFault(): DeviceViolation | null {
    const { count, faults } = this.#open().faults(FAULTS_SHOWN);
    const first = faults[0];
    if (count === 0 || first === undefined) return null;
    return this.#describeFault(first, count);
  }

  #describeFault(fault: ByteFault, count: number): DeviceViolation {
    const { arena } = this.#model.run;
    const band = arena.bands[fault.band];
    const who = this.#tap.handles.nameOf(fault.handle);
    const name = band?.name ?? `band ${fault.band}`;
    const more = count > 1 ? ` (and ${count - 1} more)` : "";
    if (fault.kind === "unbound") {
      const message = `${who} finds no page under ${name} id ${fault.id}, which it writes${more}`;
      return { check: "unordered_overlap", message, band: name };
    }
    if (fault.kind === "send") {
      const message = `${who} sends ${name} page ${fault.page} with other bytes than were written to it${more}`;
      return { check: "unordered_overlap", message, band: name, page: fault.page };
    }
    const found = `${hex(fault.found)} where ${hex(fault.expected)} was written`;
    const message = `${who} reads ${name} page ${fault.page}, unit ${fault.unit}, and finds ${found}${more}`;
    return { check: "unordered_overlap", message, band: name, page: fault.page };
  }

  #open(): ByteArena {
    if (this.#arena === null) throw new InternalError(`device ${this.kind} is not open`);
    return this.#arena;
  }

  #guardMemory<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw deviceProblem(this.kind, error);
    }
  }
}

/** The smallest factor under which every unit is whole words: only tiny geometries need one. */
function scaleOf(bands: readonly BandPages[]): number {
  for (let scale = 1; scale < WORD; scale++) {
    const fits = bands.every((band) => ((band.pageBytes / band.units) * scale) % WORD === 0);
    if (fits) return scale;
  }
  return WORD;
}

function hex(stamp: number): string {
  return `0x${stamp.toString(16).padStart(8, "0")}`;
}
