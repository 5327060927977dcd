// Small implementations behind the TypeScript kit, in this process, and ways to bend what they write.
import type { Transport, TransportListener } from "../../../src/adapter/transport.js";
import { foldDigests, hashName } from "../../../src/base/digest.js";
import {
  granted,
  invalid,
  refused,
  RefusedConfiguration,
  Session,
} from "../../../examples/kits/typescript/unified-trace-kit.mjs";
import type {
  Answer,
  Fields,
  Implementation,
  Opening,
} from "../../../examples/kits/typescript/unified-trace-kit.mjs";

/** A message as it was sent. */
export interface Sent {
  readonly n?: number;
  readonly op?: string;
  readonly [key: string]: unknown;
}

/** What happens in place of a reply: other lines, the end of the program (a text says how), or nothing (null). */
export type Bend = (reply: string, message: Sent) => readonly string[] | string | null;

/** Carries lines to a session of the kit in this process. Replies come in a turn of their own. */
export class BentTransport implements Transport {
  readonly #session: Session;
  readonly #bend: Bend;
  #listener: TransportListener | null = null;
  #hasEnded = false;

  constructor(kinds: readonly Implementation[], bend: Bend) {
    this.#session = new Session(kinds, { name: "bent", version: "1" });
    this.#bend = bend;
  }

  start(listener: TransportListener): void {
    this.#listener = listener;
  }

  write(text: string): void {
    for (const line of text.trimEnd().split("\n")) {
      queueMicrotask(() => {
        this.#take(line);
      });
    }
  }

  async stop(): Promise<void> {
    this.#end("exited with code 0");
  }

  logTail(): string {
    return "";
  }

  #take(line: string): void {
    if (this.#hasEnded) return;
    const reply = this.#session.take(line).trimEnd();
    const bent = this.#bend(reply, messageOf(line));
    if (typeof bent === "string") this.#end(bent);
    else if (bent !== null) this.#listener?.onLines(bent);
    if (this.#session.exitCode !== null && bent !== null)
      this.#end(`exited with code ${this.#session.exitCode}`);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener?.onEnd(reason, true);
  }
}

function messageOf(line: string): Sent {
  try {
    return JSON.parse(line) as Sent;
  } catch {
    return {};
  }
}

/** A reply with members of its own in place of some. */
export function withMembers(reply: string, members: Fields): string {
  return JSON.stringify({ ...(JSON.parse(reply) as Fields), ...members });
}

/** A heap that gives every object the place behind the last one, until there is no room. */
export class Bump {
  static domain = "heap" as const;
  readonly live = new Map<string, number>();
  top = 0;
  readonly arena: number;

  constructor({ config }: Opening) {
    this.arena = Number(config["arena_bytes"]);
  }
  "heap.alloc"({ id, size_bytes }: { id: string; size_bytes: number }): Answer {
    if (this.live.has(id)) return invalid("name_state", { req: id });
    if (this.top + size_bytes > this.arena) return refused("refused_capacity", { limit: "bytes" });
    const place = this.top;
    this.top += size_bytes;
    this.live.set(id, place);
    return granted({ address_offset: place });
  }
  "heap.free"({ id }: { id: string }): Answer {
    if (!this.live.delete(id)) return invalid("unknown_request", { req: id });
    return granted();
  }
  state(): Fields | null {
    return { top: this.top, live: [...this.live] };
  }
}

const COMPONENTS = ["full", "chain", "forwards", "ledger", "rows", "tree", "host", "net"];
const BOOT = {
  bands: { full: { grow: "down", unit_bytes: 64, page_bytes: 256, pages: 256, first_page: 1 } },
  sink_bytes: 256,
};

/** Rows with digests: only the component of the rows ever changes. Subclasses lie. */
export class Rows {
  static domain = "kv" as const;
  static digest = "light" as const;
  readonly rows = new Map<string, number>();
  free = [1, 2, 3, 4, 5, 6, 7, 8];
  readonly hasDigests: boolean;
  #told = new Map<string, string>();

  constructor({ digestDepth, config }: Opening) {
    this.hasDigests = digestDepth !== null;
    const pools = config["sub_pools"] as readonly unknown[];
    if (pools.length !== 1) throw new RefusedConfiguration("one sub-pool is known here");
  }
  boot(): Answer {
    return this.tell(granted(BOOT));
  }
  "row.alloc"({ reqs }: { reqs: readonly string[] }): Answer {
    if (reqs.length > this.free.length)
      return this.refuse(refused("refused_rows", { need: reqs.length, free: this.free.length }));
    const rows: Record<string, number> = {};
    for (const req of reqs) {
      rows[req] = this.free.shift() ?? 0;
      this.rows.set(req, rows[req]);
    }
    return this.tell(granted({ rows }));
  }
  "row.free"({ req }: { req: string }): Answer {
    const row = this.rows.get(req);
    if (row === undefined) return this.refuse(invalid("unknown_request", { req }));
    this.rows.delete(req);
    this.free.push(row);
    return this.tell(granted());
  }
  "ask.fits"(): Answer {
    return this.question(granted({ fits: true }));
  }
  close(): string | null {
    if (!this.hasDigests) return null;
    return foldDigests(COMPONENTS.map((name) => this.value(name)));
  }
  /** The hash of a component. */
  value(component: string): string {
    if (component !== "rows") return "0".repeat(16);
    const content = [...this.rows].map(([req, row]) => `${req}:${row}`).join() + this.free.join();
    return hashName(content).toString(16).padStart(16, "0");
  }
  tell(answer: Answer): Answer {
    return this.hasDigests ? { ...answer, digest: this.changed() } : answer;
  }
  question(answer: Answer): Answer {
    return answer;
  }
  refuse(answer: Answer): Answer {
    return answer;
  }
  /** The components whose hash changed. */
  changed(): Record<string, string> {
    const digest: Record<string, string> = {};
    for (const name of COMPONENTS) {
      const value = this.value(name);
      if (this.#told.get(name) !== value) digest[name] = value;
      this.#told.set(name, value);
    }
    return digest;
  }
}
