// The lines of a trace with other words: whatever a user, a workload or a machine named.
import type { Answer, Operation, RunConfig } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { Digests } from "../../base/operations.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import type {
  CallLine,
  EndLine,
  HeaderLine,
  MarkLine,
  OpLine,
  RunLine,
  RunSourceBlock,
} from "../../trace/lines.js";
import { EFFECTS, ERROR } from "../../trace/line-specs.js";
import { findOperation } from "../../trace/operation-table.js";
import type { KeyRanks } from "./key-ranks.js";
import { OWN_STATE } from "./own-state.js";
import { renamed } from "./rename.js";
import type { Words } from "./rename.js";
import type { SaltedNames } from "./salted-names.js";

// Of a model's configuration: where it came from, which no size follows from.
const ORIGIN = /^(_.*|x_.*|id|name|path|author|license|auto_map|.*_(name|path|url|id_or_path))$/;

const AS_THEY_ARE: Words = { name: (text) => text, word: (text) => text, hash: (hash) => hash };

/** @internal */
export class AnonymousLines {
  readonly #names: SaltedNames;
  readonly words: Words;

  constructor(names: SaltedNames, ranks: KeyRanks) {
    this.#names = names;
    this.words = {
      name: (text) => names.name(text),
      word: (text) => names.word(text),
      hash: (hash) => ranks.of(hash),
    };
  }

  /** The producer stays: it says which allocator answered. */
  header({ kind, format, version, producer }: HeaderLine): HeaderLine {
    return { kind, format, version, producer, created: null, note: null };
  }

  run(line: RunLine): RunLine {
    const { run, domain, config, derived, source, digest_depth, starts_at, dropped } = line;
    return {
      kind: "run",
      run: this.#names.run(run),
      domain,
      config: withoutOrigin(config) as RunConfig, // the same form, with fewer keys
      ...(derived && { derived }),
      source: this.#source(source),
      ...(digest_depth === undefined ? {} : { digest_depth }),
      ...(starts_at === undefined ? {} : { starts_at }),
      ...(dropped === undefined ? {} : { dropped }),
    };
  }

  /** Without its digest, which depends on names. */
  op(line: OpLine): OpLine {
    const { kind, n, at_us } = line;
    const { op, args } = this.operation(line);
    const { ok, err, fx } = this.answer(line.op, line);
    return {
      ...{ kind, n, op, args },
      ...(ok === undefined ? {} : { ok }),
      ...(err === undefined ? {} : { err }),
      ...(fx === undefined ? {} : { fx }),
      ...(at_us === undefined ? {} : { at_us }),
    } as OpLine; // the parts of one line
  }

  call(line: CallLine): CallLine {
    return { kind: "call", n: line.n, ...this.operation(line) }; // the same kind of operation
  }

  mark({ kind, n, text }: MarkLine): MarkLine {
    return { kind, n, text: this.#names.word(text) };
  }

  end({ kind, run, ops }: EndLine, digest: string | null): EndLine {
    return { kind, run: this.#names.run(run), ops, ...(digest === null ? {} : { digest }) };
  }

  operation({ op, args }: { readonly op: Operation["op"]; readonly args: unknown }): Operation {
    const spec = findOperation(op)!.args; // a line that was read names an operation
    const made = renamed(spec, args, this.words);
    const call = op === "pool.make" ? { ...(made as object), ...kindOf(args) } : made;
    return { op, args: call } as Operation; // its own arguments, in other words
  }

  /** An answer without digest and sentences; what its holders and effects name has other names. */
  answer(op: Operation["op"], answer: Answer): Answer {
    return answerIn(this.words, op, answer);
  }

  /** An answer under the new names, without what `answer` leaves out. */
  withoutSentences(op: Operation["op"], answer: Answer): Answer {
    return answerIn(AS_THEY_ARE, op, answer);
  }

  /** Null where the state is not of this project's form, so that nobody knows what in it is a name. */
  state(state: State): State | null {
    if (inspect(OWN_STATE, state, inspectContext()) !== null) return null;
    return renamed(OWN_STATE, state, this.words) as State; // of the same form
  }

  #source(source: RunSourceBlock): RunSourceBlock {
    if (source.type === "seed") return source;
    const entries = Object.entries(source)
      .filter(([key]) => !key.startsWith("x_"))
      .map(([key, value]) => [
        key,
        key === "type" || typeof value !== "string" ? value : this.#names.word(value),
      ]);
    return Object.fromEntries(entries) as RunSourceBlock; // the same keys and kinds of value
  }
}

function answerIn(words: Words, op: Operation["op"], { ok, err, fx }: Answer): Answer {
  const made: Record<string, unknown> = {};
  if (ok !== undefined) made["ok"] = renamed(findOperation(op)!.ok, withoutDetail(ok), words);
  if (err !== undefined) {
    const { message: _message, holders, ...rest } = err;
    const error = renamed(ERROR, rest, words) as object;
    made["err"] = holders === undefined ? error : { ...error, holders: holders.map(words.name) };
  }
  if (fx !== undefined) made["fx"] = renamed(EFFECTS, fx, words);
  return made; // of the same form
}

/** Component digests that stand in the order in which a run's first one lists them. @internal */
export function inOrder(digests: Digests, order: readonly string[]): Digests {
  const entries = order.flatMap((component) => {
    const hex = digests[component];
    return hex === undefined ? [] : [[component, hex]];
  });
  return Object.fromEntries(entries) as Digests;
}

// What a pool is made of is a word of the allocator's, which it would not know by another name.
function kindOf(args: unknown): { readonly type: unknown } {
  return { type: (args as { readonly type: unknown }).type };
}

// Details of a violation are sentences.
function withoutDetail(ok: object): object {
  const { violations } = ok as { readonly violations?: readonly object[] };
  if (violations === undefined) return ok;
  const bare = violations.map((violation) =>
    Object.fromEntries(Object.entries(violation).filter(([key]) => key !== "detail")),
  );
  return { ...ok, violations: bare };
}

function withoutOrigin(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(withoutOrigin);
  if (typeof config !== "object" || config === null) return config;
  const entries = Object.entries(config).filter(
    ([key, value]) => !(typeof value !== "number" && ORIGIN.test(key) && !isSubPool(config)),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutOrigin(value)]));
}

// The name of a sub-pool is that of its band, and part of every answer.
function isSubPool(value: object): boolean {
  return "unit_bytes" in value;
}
