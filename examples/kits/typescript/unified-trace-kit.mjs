// Adapter kit of unified-trace for TypeScript and JavaScript: one file without dependencies, with its types beside it
// (unified-trace-kit.d.mts). It does two things for a program that holds an allocator:
//
//   serve          puts the allocator behind the adapter protocol, so that traces can be replayed on it
//   LiveRecorder   writes down what it does inside its own program, when UNIFIED_TRACE=FILE is set
//
// docs/adapter-kits.md of unified-trace explains both, docs/adapter-protocol.md the protocol itself.
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import process from "node:process";

const PROTOCOL_VERSION = 1;
const LINE_BYTES_MAX = 64 * 1024 * 1024; // of one line, both ways
const DEPTH_MAX = 64; // nesting of one line, both ways
const DEPTHS = ["light", "layout", "deep"];
const EXIT = { ok: 0, broken: 1, badLine: 3 };

export class RefusedConfiguration extends Error {}
export class Unsupported extends Error {}
export class InvariantBroken extends Error {}

// Fields of `err` in the order in which a trace has them.
const ERROR_FIELDS =
  "code rule req band page need free demand limit terms transfers holders message".split(" ");

export function granted(ok = {}, more = {}) {
  const { fx, digest, message } = more;
  return { ok, fx, digest, message };
}

export function refused(code, fields = {}) {
  const given = { ...fields, code };
  const err = {};
  for (const name of ERROR_FIELDS) if (given[name] !== undefined) err[name] = given[name];
  return { err };
}

export function invalid(rule, fields = {}) {
  return refused("invalid", { ...fields, rule });
}

// --- the protocol ----------------------------------------------------------------------------------------------

/** A line that ends the conversation. */
class BadLine extends Error {}

/** The operations of an implementation: its methods named `boot` or with a dot in their name. */
export function operationsOf(kind) {
  const names = new Set();
  for (let at = kind.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at))
      if (name === "boot" || name.includes(".")) names.add(name);
  }
  return [...names];
}

export class Session {
  exitCode = null; // null while the conversation goes on
  #kinds = new Map(); // by domain
  #ops = new Map(); // by domain
  #hello;
  #isGreeted = false;
  #run = null;
  #runOps = new Set();
  #runName = "";
  #next = 0;

  constructor(implementations, { name, version, revision = null, dirty = null }) {
    for (const kind of implementations) {
      this.#kinds.set(kind.domain ?? "heap", kind);
      this.#ops.set(kind.domain ?? "heap", new Set(operationsOf(kind)));
    }
    const depths = implementations.map(({ digest = null }) => DEPTHS.indexOf(digest));
    const deepest = Math.max(...depths);
    this.#hello = {
      ...{ protocol: PROTOCOL_VERSION, name, version, revision, dirty },
      domains: [...this.#kinds.keys()],
      ops: [...this.#ops.values()].flatMap((ops) => [...ops]),
      digest: deepest < 0 ? null : DEPTHS[deepest],
      fx: implementations.some(({ fx = false }) => fx),
      from_state: implementations.some(({ fromState = false }) => fromState),
    };
  }

  take(line) {
    try {
      const message = parse(line);
      if ("n" in message) return this.#apply(message);
      const [word = ""] = Object.keys(message);
      const body = message[word];
      if (!["hello", "open", "state", "close"].includes(word) || !isObject(body))
        throw new BadLine(`no message of the protocol: ${quoted(line)}`);
      if (word === "hello") return this.#greet(body);
      if (!this.#isGreeted) throw new BadLine(`"${word}" before the hello`);
      if (word === "open") return this.#open(body);
      if (this.#run === null) throw new BadLine(`"${word}" where no run is open`);
      return word === "state" ? encode({ state: this.#run.state?.() ?? null }) : this.#close(body);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      return this.refuse(error.message);
    }
  }

  refuse(message) {
    this.exitCode = EXIT.badLine;
    return encode({ error: { code: "protocol", message } });
  }

  #greet({ protocol }) {
    if (this.#isGreeted) throw new BadLine("a second hello");
    if (protocol !== PROTOCOL_VERSION) {
      const asked = quoted(String(protocol));
      throw new BadLine(`protocol ${asked} is asked for; this side speaks ${PROTOCOL_VERSION}`);
    }
    this.#isGreeted = true;
    return encode({ hello: this.#hello });
  }

  #open({ run, domain = "kv", config, digest_depth, state }) {
    if (this.#run !== null) throw new BadLine(`"open" before run "${this.#runName}" was closed`);
    if (typeof run !== "string" || !isObject(config))
      throw new BadLine(`"open" without "run" or "config"`);
    const refusal = (code, message) => encode({ error: { code, message } });
    const Kind = this.#kinds.get(domain);
    if (Kind === undefined) {
      const message = `domain ${quoted(String(domain))} is not answered here`;
      return refusal("candidate_handshake", message);
    }
    if (state !== undefined && Kind.fromState !== true)
      return refusal("candidate_handshake", "a run cannot start from a state here");
    try {
      const opening = { run, domain, config, digestDepth: digest_depth ?? null, state };
      this.#run = new Kind(opening);
    } catch (error) {
      // the conversation goes on: nothing was opened
      if (error instanceof RefusedConfiguration) return refusal("config", spaced(error.message));
      tell(error);
      return refusal("config", described(error));
    }
    this.#runName = run;
    this.#runOps = this.#ops.get(domain);
    this.#next = 0;
    return encode({ opened: { run } });
  }

  #apply({ n, op, args }) {
    if (this.#run === null) throw new BadLine("an operation where no run is open");
    if (n !== this.#next)
      throw new BadLine(`operation ${quoted(String(n))} where operation ${this.#next} is next`);
    if (typeof op !== "string" || !isObject(args))
      throw new BadLine(`operation ${n} without "op" or "args"`);
    if (!this.#runOps.has(op))
      throw new BadLine(`operation ${n} is of a kind that is not answered here: ${quoted(op)}`);
    let line;
    try {
      line = answerLine(n, this.#run[op](args));
    } catch (error) {
      if (error instanceof InvariantBroken)
        return this.#fail(n, "invariant", spaced(error.message));
      if (error instanceof Unsupported) {
        line = answerLine(n, refused("unsupported", { message: spaced(error.message) }));
      } else {
        tell(error);
        return this.#fail(n, "crash", described(error));
      }
    }
    this.#next += 1;
    return line;
  }

  #close({ run }) {
    if (run !== this.#runName)
      throw new BadLine(`"close" of run ${quoted(String(run))} where "${this.#runName}" is open`);
    let digest;
    try {
      digest = this.#run.close?.() ?? null;
    } catch (error) {
      const kind = error instanceof InvariantBroken ? "invariant" : "crash";
      return this.#fail(this.#next, kind, described(error));
    }
    this.#run = null;
    return encode({ closed: { run, digest } });
  }

  #fail(n, kind, message) {
    this.exitCode = EXIT.broken;
    return encode({ n, fail: { kind, message } });
  }
}

export async function serve(implementations, about) {
  const session = new Session(implementations, about);
  // Standard output belongs to the protocol: what the program itself prints goes to standard error.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  let isGone = false;
  process.stdout.on("error", () => (isGone = true)); // the tool went away
  let held = []; // the beginning of a line whose end is still to come
  let heldBytes = 0;
  for await (const chunk of process.stdin) {
    const last = chunk.lastIndexOf(10);
    let replies = "";
    if (last >= 0) {
      const first = chunk.indexOf(10);
      const isOverlong = heldBytes + first > LINE_BYTES_MAX;
      const bytes = Buffer.concat([...held, chunk.subarray(0, last)]);
      [held, heldBytes] = [[], 0];
      const lines = isOverlong ? [] : decode(bytes);
      if (isOverlong) replies += session.refuse("a line is longer than 64 MiB");
      else if (lines === null) replies += session.refuse("a line is not UTF-8");
      for (const line of lines ?? []) {
        if (session.exitCode !== null) break;
        replies += session.take(line);
      }
    }
    held.push(chunk.subarray(last + 1));
    heldBytes += chunk.length - last - 1;
    if (heldBytes > LINE_BYTES_MAX && session.exitCode === null)
      replies += session.refuse("a line is longer than 64 MiB");
    // All answers to one read in one write: that is what makes a window of operations fast.
    if (replies !== "" && !isGone) await new Promise((done) => void write(replies, done));
    if (session.exitCode !== null || isGone) break;
  }
  if (session.exitCode === null && heldBytes > 0 && !isGone)
    write(session.refuse("the input ends in the middle of a line"));
  process.exitCode = session.exitCode ?? EXIT.ok;
}

export function moduleOf(Kind, about) {
  const { name, version, revision = null, dirty = null } = about;
  const { domain = "heap", digest = null, fx = false, fromState = false } = Kind;
  return {
    info: {
      ...{ name, version, revision, dirty, domains: [domain] },
      ...{ ops: operationsOf(Kind), digest, fx, fromState },
    },
    createImplementation(config, { run, digestDepth, state }) {
      const made = new Kind({ run, domain, config, digestDepth, state });
      return {
        apply: ({ op, args }) => made[op](args),
        state: () => made.state?.() ?? null,
        close: () => made.close?.() ?? null,
      };
    },
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes) {
  try {
    return utf8.decode(bytes).split("\n");
  } catch {
    return null;
  }
}

function parse(line) {
  if (isTooDeep(line)) throw new BadLine(`nested deeper than ${DEPTH_MAX} levels: ${quoted(line)}`);
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    throw new BadLine(line.trim() === "" ? "an empty line" : `not JSON: ${quoted(line)}`);
  }
  if (!isObject(value)) throw new BadLine(`not an object: ${quoted(line)}`);
  return value;
}

function isTooDeep(line) {
  if (line.length <= 2 * DEPTH_MAX) return false;
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === 0x22) {
      for (at++; at < line.length && line.charCodeAt(at) !== 0x22; at++)
        if (line.charCodeAt(at) === 0x5c) at++;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function answerLine(n, answer) {
  if (!isObject(answer) || (answer.ok === undefined) === (answer.err === undefined))
    throw new TypeError("the handler returned neither or both of ok and err");
  return `{"n":${n},${JSON.stringify(answer).slice(1)}\n`;
}

function encode(message) {
  return `${JSON.stringify(message)}\n`;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function spaced(text) {
  return text.replace(/[\u0000-\u0020\u007f\u2028\u2029]+/g, " ").trim();
}

function quoted(line) {
  const text = spaced(line.slice(0, 200));
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

function described(error) {
  return spaced(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

function tell(error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}

// --- live recording --------------------------------------------------------------------------------------------

// Arguments of the operations of domain `heap`, in the order in which a trace has them.
const HEAP_ARGUMENTS = {
  "heap.alloc": ["id", "size_bytes", "align_bytes", "stream", "pool"],
  "heap.free": ["id", "stream"],
  "heap.realloc": ["id", "size_bytes"],
  "heap.copy": ["from", "to", "bytes"],
  "heap.release": ["pool"],
  "heap.coalesce": ["pool"],
  "pool.make": ["pool", "type", "args"],
};
const BUFFER_CHARS = 256 * 1024;

export class LiveRecorder {
  #base;
  #run;
  #path;
  #partial = "";
  #isCrashSafe;
  #file = null;
  #buffer = "";
  #n = 0;
  #lifetimes = 0;
  #ids = new Map(); // by address: the object there, or the last one that was
  #isInside = false; // of a recorded call: what it calls is not recorded
  #onExit = () => this.close();

  constructor(about) {
    const {
      name,
      version,
      config,
      base = 0,
      domain = "heap",
      run = "live",
      revision = null,
    } = about;
    this.#base = base;
    this.#run = run;
    this.#isCrashSafe = !["", "0"].includes(process.env.UNIFIED_TRACE_CRASH_SAFE ?? "");
    this.#path = (process.env.UNIFIED_TRACE ?? "").replaceAll("%p", String(process.pid));
    if (this.#path === "") return;
    if (this.#path === "-" || /\.(gz|zst)$/.test(this.#path)) {
      this.#complain("a live recording needs the name of a plain .jsonl file");
      return;
    }
    this.#partial = `${this.#path}.${process.pid}.partial`;
    try {
      this.#file = openSync(this.#partial, "w");
    } catch (error) {
      this.#complain(`cannot be written: ${described(error)}`);
      return;
    }
    const producer = { name, version, revision, dirty: null };
    const header = { kind: "trace", format: "unified-trace", version: 1, producer };
    this.#put({ ...header, created: null, note: null });
    const source = { type: "live", name };
    this.#put({ kind: "run", run, domain, config, source, digest_depth: null });
    process.on("exit", this.#onExit);
  }

  get isRecording() {
    return this.#file !== null;
  }

  idAt(address) {
    let id = this.#ids.get(address);
    if (id === undefined) {
      this.#lifetimes += 1;
      id = `u${this.#lifetimes}`; // never allocated here: a name that nothing opens
      this.#ids.set(address, id);
    }
    return id;
  }

  call(op, args, work) {
    return this.#record(op, args, work, null, "");
  }

  alloc({ sizeBytes, alignBytes, stream, pool }, work) {
    if (this.#file === null || this.#isInside) return work(NO_CALL);
    this.#lifetimes += 1;
    const id = `a${this.#lifetimes}`;
    const args = { id, size_bytes: sizeBytes, align_bytes: alignBytes, stream, pool };
    return this.#record("heap.alloc", args, work, null, id);
  }

  free(address, work, { stream } = {}) {
    if (this.#file === null || this.#isInside) return work(NO_CALL);
    return this.#record("heap.free", { id: this.idAt(address), stream }, work, address, "");
  }

  realloc(address, sizeBytes, work) {
    if (this.#file === null || this.#isInside) return work(NO_CALL);
    const id = this.idAt(address);
    return this.#record("heap.realloc", { id, size_bytes: sizeBytes }, work, address, id);
  }

  close() {
    process.off("exit", this.#onExit);
    if (this.#file === null) return;
    if (this.#isInside) {
      this.#giveUp("the program ended inside a call");
      return;
    }
    this.#put({ kind: "end", run: this.#run, ops: this.#n });
    this.#flush();
    if (this.#file === null) return;
    try {
      closeSync(this.#file);
      renameSync(this.#partial, this.#path);
    } catch (error) {
      this.#complain(`cannot be written: ${described(error)}`);
    }
    this.#file = null;
  }

  #record(op, args, work, before, id) {
    if (this.#file === null || this.#isInside) return work(NO_CALL);
    const given = {};
    for (const key of HEAP_ARGUMENTS[op] ?? Object.keys(args))
      if (args[key] !== undefined) given[key] = args[key];
    if (this.#isCrashSafe) {
      this.#put({ kind: "call", n: this.#n, op, args: given });
      this.#flush();
    }
    let answer = null;
    const call = {
      granted: (result = {}, fx) => {
        answer ??= { ok: typeof result === "object" ? result : this.#placed(result, before, id) };
        if (fx !== undefined && fx.length > 0) answer.fx = fx;
      },
      refused: (code, fields) => {
        answer ??= refused(code, fields);
      },
    };
    this.#isInside = true;
    try {
      const value = work(call);
      if (answer === null) this.#giveUp(`${op} told no outcome`);
      else this.#answer({ kind: "op", n: this.#n, op, args: given, ...answer });
      return value;
    } catch (error) {
      if (answer === null) this.#giveUp(`${op} threw ${described(error)}`);
      else this.#answer({ kind: "op", n: this.#n, op, args: given, ...answer });
      throw error;
    } finally {
      this.#isInside = false;
    }
  }

  #placed(address, before, id) {
    if (before !== null) this.#ids.delete(before);
    if (id !== "") this.#ids.set(address, id);
    return this.#base === null ? {} : { address_offset: address - this.#base };
  }

  #answer(line) {
    if (this.#file === null) return;
    this.#put(line);
    this.#n += 1;
    if (this.#isCrashSafe) this.#flush();
  }

  #put(line) {
    this.#buffer += `${JSON.stringify(line)}\n`;
    if (this.#buffer.length >= BUFFER_CHARS) this.#flush();
  }

  #flush() {
    if (this.#file === null || this.#buffer === "") return;
    const bytes = Buffer.from(this.#buffer, "utf8");
    this.#buffer = "";
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#stop();
      this.#complain(`cannot be written: ${described(error)}`);
    }
  }

  #giveUp(reason) {
    this.#flush();
    if (this.#file === null) return;
    this.#stop();
    this.#complain(`${reason}; what was recorded until then is in ${this.#partial}`);
  }

  #stop() {
    const file = this.#file;
    this.#file = null;
    try {
      closeSync(file);
    } catch {
      // it is given up anyway
    }
  }

  #complain(message) {
    process.stderr.write(`UNIFIED_TRACE=${this.#path}: ${message}\n`);
  }
}

const NO_CALL = { granted() {}, refused() {} };
