// Protocol version 1: JSON lines between the tool and an implementation. Types of its messages, their encoding, and
// the shallow checks that every reader of a line makes. `docs/adapter-protocol.md` describes it for authors.
import { nearestWord } from "../base/nearest.js";
import type { Answer, DigestDepth, Domain, Operation, RunConfig } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { AdapterFailure, AdapterInfo, RunOpening } from "./adapter.js";
import { DEPTH_MAX, isTooDeep } from "./nesting.js";

/** The protocol's version in both hellos. @public */
export const PROTOCOL_VERSION = 1;
/** Longest line either side may write, line feed excluded, in bytes. @public */
export const LINE_BYTES_MAX: number = 64 * 1024 * 1024;

/** What an implementation may write, checked as far as the protocol goes. @internal */
export type Reply =
  | { readonly kind: "hello"; readonly protocol: number; readonly info: AdapterInfo }
  | { readonly kind: "opened"; readonly run: string }
  | { readonly kind: "answer"; readonly n: number; readonly answer: Answer }
  | { readonly kind: "fail"; readonly n: number; readonly failure: AdapterFailure }
  | { readonly kind: "state"; readonly state: State | null }
  | { readonly kind: "closed"; readonly run: string; readonly digest: string | null }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** What the tool may write. @internal */
export type Request =
  | { readonly kind: "hello"; readonly protocol: number }
  | { readonly kind: "open"; readonly opening: RunOpening }
  | { readonly kind: "operation"; readonly n: number; readonly operation: Operation }
  | { readonly kind: "state"; readonly n: number }
  | { readonly kind: "close"; readonly run: string };

/** A line that is none of the protocol's messages; `message` says why in a few words. @internal */
export interface Mistake {
  readonly kind: "mistake";
  readonly message: string;
}

const REPLY_WORDS = ["hello", "opened", "state", "closed", "error", "n"];
const REQUEST_WORDS = ["hello", "open", "state", "close", "n"];
const ANSWER_KEYS = new Set(["n", "ok", "err", "fx", "digest", "message"]);
const OPERATION_KEYS = new Set(["n", "op", "args"]);
const DEPTHS: readonly unknown[] = ["light", "layout", "deep", null, undefined];
const FAIL_KINDS: readonly unknown[] = ["crash", "invariant", "protocol"];

type Fields = Readonly<Record<string, unknown>>;

/** Reads one line of an implementation. Cost: one `JSON.parse` and a look at each top-level key. @internal */
export function parseReply(line: string): Reply | Mistake {
  const value = parseObject(line);
  if (typeof value === "string") return mistake(value);
  if ("n" in value) return parseAnswer(value, line);
  const word = Object.keys(value)[0] ?? "";
  const body = value[word];
  if (word === "state" && body === null) return { kind: "state", state: null };
  if (!isObject(body)) return mistake(unknownMessage(word, REPLY_WORDS, line));
  switch (word) {
    case "hello":
      return parseHello(body);
    case "opened":
      if (typeof body["run"] !== "string") return mistake(`"opened" without "run"`);
      return { kind: "opened", run: body["run"] };
    case "state":
      return { kind: "state", state: body as State };
    case "closed":
      if (typeof body["run"] !== "string") return mistake(`"closed" without "run"`);
      return { kind: "closed", run: body["run"], digest: textOr(body["digest"], null) };
    case "error":
      return {
        kind: "error",
        code: textOr(body["code"], "error"),
        message: oneLine(textOr(body["message"], "no message")),
      };
    default:
      return mistake(unknownMessage(word, REPLY_WORDS, line));
  }
}

/** Reads one line of the tool. Arguments are not checked here. @internal */
export function parseRequest(line: string): Request | Mistake {
  const value = parseObject(line);
  if (typeof value === "string") return mistake(value);
  if ("n" in value) return parseOperation(value);
  const word = Object.keys(value)[0] ?? "";
  const body = value[word];
  if (!isObject(body)) return mistake(unknownMessage(word, REQUEST_WORDS, line));
  switch (word) {
    case "hello":
      if (typeof body["protocol"] !== "number") return mistake(`"hello" without "protocol"`);
      return { kind: "hello", protocol: body["protocol"] };
    case "open":
      return parseOpen(body);
    case "state":
      if (!isCount(body["n"])) return mistake(`"state" without "n"`);
      return { kind: "state", n: body["n"] };
    case "close":
      if (typeof body["run"] !== "string") return mistake(`"close" without "run"`);
      return { kind: "close", run: body["run"] };
    default:
      return mistake(unknownMessage(word, REQUEST_WORDS, line));
  }
}

/** The line of one operation, line feed included. @internal */
export function encodeOperation(n: number, operation: Operation): string {
  return `{"n":${n},"op":"${operation.op}","args":${JSON.stringify(operation.args)}}\n`;
}

/** The line of one answer, line feed included. @internal */
export function encodeAnswer(n: number, answer: Answer): string {
  const text = JSON.stringify(answer);
  return text === "{}" ? `{"n":${n}}\n` : `{"n":${n},${text.slice(1)}\n`;
}

/** The line that opens a run. `domain` is left out where it is `kv`. @internal */
export function encodeOpen(opening: RunOpening): string {
  const { run, domain, config, digestDepth, state } = opening;
  return encodeLine({
    open: {
      run,
      ...(domain === "kv" ? {} : { domain }),
      config,
      digest_depth: digestDepth,
      ...(state === undefined ? {} : { state }),
    },
  });
}

/** The handshake's second line. @internal */
export function encodeInfo(info: AdapterInfo): string {
  const { name, version, revision, dirty, domains, ops, digest, fx, fromState } = info;
  const hello = {
    protocol: PROTOCOL_VERSION,
    name,
    version,
    revision,
    dirty,
    domains,
    ops,
    digest,
    fx,
  };
  return encodeLine({ hello: { ...hello, from_state: fromState } });
}

/** Any other message, line feed included. @internal */
export function encodeLine(message: Fields): string {
  return `${JSON.stringify(message)}\n`;
}

/** What a message quotes of a line that it complains about: at most 60 characters, printable. @internal */
export function quoteLine(line: string): string {
  const printable = oneLine(line);
  return JSON.stringify(printable.length > 60 ? `${printable.slice(0, 57)}...` : printable);
}

/** Text as one line: control characters and runs of spaces become one space. @internal */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u0020\u007f\u2028\u2029]+/g, " ").trim();
}

function parseAnswer(value: Fields, line: string): Reply | Mistake {
  const { n, ok, err, fx, digest, message, fail } = value;
  if (!isCount(n)) return mistake(`"n" is not a number of an operation in ${quoteLine(line)}`);
  if (fail !== undefined) return parseFail(n, fail);
  for (const key in value) {
    if (!ANSWER_KEYS.has(key) && !key.startsWith("x_")) {
      return mistake(
        `unknown key ${quoteLine(key)} in the answer to operation ${n}${near(key, ANSWER_KEYS)}`,
      );
    }
  }
  if (ok === undefined && err === undefined)
    return mistake(`neither "ok" nor "err" for operation ${n}`);
  if (ok !== undefined && err !== undefined)
    return mistake(`both "ok" and "err" for operation ${n}`);
  if (ok !== undefined && !isObject(ok)) return mistake(`"ok" of operation ${n} is not an object`);
  if (err !== undefined && (!isObject(err) || typeof err["code"] !== "string")) {
    return mistake(`"err" of operation ${n} is not an object with a "code"`);
  }
  if (fx !== undefined && !Array.isArray(fx))
    return mistake(`"fx" of operation ${n} is not a list`);
  // what its words mean is the comparison's business
  if (fx !== undefined && !fx.every((effect) => Array.isArray(effect)))
    return mistake(`"fx" of operation ${n} has an effect that is no list`);
  if (digest !== undefined && !isObject(digest))
    return mistake(`"digest" of operation ${n} is not an object`);
  if (message !== undefined && (typeof message !== "string" || ok === undefined))
    return mistake(`"message" of operation ${n} is not a text beside "ok"`);
  const answer: Record<string, unknown> = ok === undefined ? { err } : { ok };
  if (fx !== undefined && fx.length > 0) answer["fx"] = fx;
  if (digest !== undefined && Object.keys(digest).length > 0) answer["digest"] = digest;
  if (message !== undefined) answer["message"] = message;
  return { kind: "answer", n, answer: answer };
}

function parseFail(n: number, fail: unknown): Reply | Mistake {
  if (
    !isObject(fail) ||
    !FAIL_KINDS.includes(fail["kind"]) ||
    typeof fail["message"] !== "string"
  ) {
    return mistake(
      `"fail" of operation ${n} is not {"kind","message"} with kind crash, invariant or protocol`,
    );
  }
  const kind = fail["kind"] as AdapterFailure["kind"];
  return { kind: "fail", n, failure: { kind, message: oneLine(fail["message"]) } };
}

function parseHello(body: Fields): Reply | Mistake {
  const { protocol, name, version, domains, ops, digest } = body;
  if (typeof protocol !== "number") return mistake(`"hello" without "protocol"`);
  if (typeof name !== "string" || typeof version !== "string")
    return mistake(`"hello" without "name" or "version"`);
  if (!isTexts(domains) || !isTexts(ops))
    return mistake(`"hello" without the lists "domains" and "ops"`);
  if (!DEPTHS.includes(digest))
    return mistake(`"digest" of "hello" is not light, layout, deep or null`);
  const info: AdapterInfo = {
    name,
    version,
    revision: textOr(body["revision"], null),
    dirty: typeof body["dirty"] === "boolean" ? body["dirty"] : null,
    domains: domains as readonly Domain[],
    ops,
    digest: (digest ?? null) as DigestDepth | null,
    fx: body["fx"] === true,
    fromState: body["from_state"] === true,
  };
  return { kind: "hello", protocol, info };
}

function parseOpen(body: Fields): Request | Mistake {
  const { run, config, state } = body;
  const depth = body["digest_depth"];
  if (typeof run !== "string") return mistake(`"open" without "run"`);
  if (!isObject(config)) return mistake(`"open" without "config"`);
  if (!DEPTHS.includes(depth)) return mistake(`"digest_depth" is not light, layout, deep or null`);
  if (state !== undefined && !isObject(state)) return mistake(`"state" of "open" is not an object`);
  const opening: RunOpening = {
    run,
    domain: textOr(body["domain"], "kv") as Domain,
    config: config as unknown as RunConfig,
    digestDepth: (depth ?? null) as DigestDepth | null,
    ...(state === undefined ? {} : { state: state as State }),
  };
  return { kind: "open", opening };
}

function parseOperation(value: Fields): Request | Mistake {
  const { n, op, args } = value;
  if (!isCount(n)) return mistake(`"n" is not a number of an operation`);
  if (typeof op !== "string") return mistake(`operation ${n} has no "op"`);
  if (!isObject(args)) return mistake(`operation ${n} (${op}) has no "args"`);
  for (const key in value) {
    if (!OPERATION_KEYS.has(key) && !key.startsWith("x_")) {
      return mistake(`unknown key ${quoteLine(key)} in operation ${n}${near(key, OPERATION_KEYS)}`);
    }
  }
  return { kind: "operation", n, operation: { op, args } as unknown as Operation };
}

// The parsed object, or what is wrong with the line.
function parseObject(line: string): Fields | string {
  if (isTooDeep(line)) return `nested deeper than ${DEPTH_MAX} levels: ${quoteLine(line)}`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line.trim() === "" ? "an empty line" : `not JSON: ${quoteLine(line)}`;
  }
  return isObject(value) ? value : `not an object: ${quoteLine(line)}`;
}

function unknownMessage(word: string, known: readonly string[], line: string): string {
  if (known.includes(word)) return `"${word}" holds no object in ${quoteLine(line)}`;
  return `no message of the protocol: ${quoteLine(line)}${near(word, known)}`;
}

function near(word: string, known: Iterable<string>): string {
  const nearest = nearestWord(word, known);
  return nearest === null ? "" : ` (did you mean "${nearest}"?)`;
}

function mistake(message: string): Mistake {
  return { kind: "mistake", message };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" ? value : otherwise;
}
