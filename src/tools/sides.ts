// The two sides of a comparison as data, and everything in which they differ before the first operation.
import { createHash } from "node:crypto";
import type { Adapter } from "../adapter/adapter.js";
import { canonicalJson } from "../base/canonical-json.js";
import type { DigestDepth, RunConfig } from "../base/operations.js";
import type { HeaderLine, RunLine } from "../trace/lines.js";
import type { EqualPart } from "../trace/reader-equal.js";
import { givesDepth } from "./candidate.js";
import type { ComparedParts } from "./answered-line.js";
import { stateDifferences } from "./state-differences.js";
import type { SideDifference, SideInfo } from "./outcome.js";

const CONFIG_FIELDS_MAX = 5;

/** First 16 hex digits of the SHA-256 of a configuration in canonical form. @internal */
export function configHash(config: RunConfig): string {
  return createHash("sha256").update(canonicalJson(config)).digest("hex").slice(0, 16);
}

/** What was learnt of a part of a trace. @internal */
export interface SideFacts {
  readonly header: HeaderLine | null;
  readonly configHash: string | null;
  readonly digest: DigestDepth | null;
  readonly kinds: readonly string[];
  readonly pageSizes: readonly number[];
  readonly hasEffects: boolean;
  readonly hasDigests: boolean;
}

/** What is learnt of a trace while it is read. @internal */
export class TraceSide {
  readonly spec: string;
  readonly #kinds = new Set<string>();
  readonly #pageSizes = new Set<number>();
  header: HeaderLine | null = null;
  #configHash: string | null = null;
  #digest: DigestDepth | null = null;
  #hasEffects = false;
  #hasDigests = false;

  constructor(spec: string) {
    this.spec = spec;
  }

  /** Takes note of a run's first line. */
  run(line: RunLine): void {
    this.#configHash ??= configHash(line.config);
    this.#digest ??= line.digest_depth ?? null;
    if (line.domain === "kv") this.#pageSizes.add(line.config.page_size);
  }

  /** Takes note of operation kinds. */
  kinds(
    lines: readonly { readonly op: string; readonly fx?: unknown; readonly digest?: unknown }[],
  ): void {
    for (const line of lines) this.kind(line);
  }

  /** The same of one line. */
  kind(line: { readonly op: string; readonly fx?: unknown; readonly digest?: unknown }): void {
    this.#kinds.add(line.op);
    if (line.fx !== undefined) this.#hasEffects = true;
    if (line.digest !== undefined) this.#hasDigests = true;
  }

  /** Takes note of what a part holds that was not read line by line. */
  part({ kinds, hasEffects, hasDigests }: EqualPart): void {
    for (const kind of kinds) this.#kinds.add(kind);
    this.#hasEffects ||= hasEffects;
    this.#hasDigests ||= hasDigests;
  }

  /** What was learnt, as plain data. */
  facts(): SideFacts {
    return {
      header: this.header,
      configHash: this.#configHash,
      digest: this.#digest,
      kinds: [...this.#kinds],
      pageSizes: [...this.#pageSizes],
      hasEffects: this.#hasEffects,
      hasDigests: this.#hasDigests,
    };
  }

  /** Takes note of what was learnt of the part that follows. */
  join(facts: SideFacts): void {
    this.header ??= facts.header;
    this.#configHash ??= facts.configHash;
    this.#digest ??= facts.digest;
    for (const kind of facts.kinds) this.#kinds.add(kind);
    for (const size of facts.pageSizes) this.#pageSizes.add(size);
    this.#hasEffects ||= facts.hasEffects;
    this.#hasDigests ||= facts.hasDigests;
  }

  /** The kinds met so far. */
  get operationKinds(): ReadonlySet<string> {
    return this.#kinds;
  }

  info(): SideInfo {
    const producer = this.header?.producer;
    return {
      spec: this.spec,
      name: producer?.name ?? "unknown",
      version: producer?.version ?? "unknown",
      revision: producer?.revision ?? null,
      dirty: producer?.dirty ?? null,
      formatVersion: this.header?.version ?? null,
      digest: this.#hasDigests ? this.#digest : null,
      fx: this.#hasEffects,
      configHash: this.#configHash,
      pageSizes: [...this.#pageSizes].sort((left, right) => left - right),
      operationKinds: this.#kinds.size,
    };
  }
}

/** An implementation as a side. It runs under the base's configuration. @internal */
export function adapterSide(spec: string, adapter: Adapter, base: SideInfo): SideInfo {
  const { info } = adapter;
  return {
    spec,
    name: info.name,
    version: info.version,
    revision: info.revision,
    dirty: info.dirty,
    formatVersion: null,
    digest: info.digest,
    fx: info.fx,
    configHash: base.configHash,
    pageSizes: base.pageSizes,
    operationKinds: info.ops.length,
  };
}

/** Which parts of an answer can be compared with this implementation. @internal */
export function partsWith(depth: DigestDepth | null, adapter: Adapter): ComparedParts {
  return {
    fx: adapter.info.fx,
    digest: depth !== null && givesDepth(adapter.info.digest, depth),
  };
}

/** Revision, version and digest differences, all at once. @internal */
export function sideDifferences(base: SideInfo, candidate: SideInfo): SideDifference[] {
  const found: SideDifference[] = [];
  const differ = (what: string, left: string, right: string, isLoss = false): void => {
    if (left !== right) found.push({ what, base: left, candidate: right, isLoss });
  };
  differ("name", base.name, candidate.name);
  differ("version", base.version, candidate.version);
  differ("revision", revisionOf(base), revisionOf(candidate));
  if (base.formatVersion !== null && candidate.formatVersion !== null) {
    differ("format version", String(base.formatVersion), String(candidate.formatVersion));
  }
  differ("page sizes", base.pageSizes.join(","), candidate.pageSizes.join(","));
  if (candidate.formatVersion === null) {
    const isLoss = base.digest !== null && !givesDepth(candidate.digest, base.digest);
    if (isLoss) differ("digests", base.digest, candidate.digest ?? "none", true);
    if (!candidate.fx) differ("effects", "told", "not told", true);
  }
  return found;
}

function revisionOf(side: SideInfo): string {
  return `${side.revision ?? "unknown"}${side.dirty === true ? " with local changes" : ""}`;
}

/** Where two configurations of one run differ, as text; null where they are the same. @internal */
export function configDifference(
  base: RunConfig,
  candidate: RunConfig,
): { readonly base: string; readonly candidate: string } | null {
  if (canonicalJson(base) === canonicalJson(candidate)) return null;
  const fields = stateDifferences(base, candidate).slice(0, CONFIG_FIELDS_MAX);
  const side = (of: "base" | "candidate"): string =>
    fields
      .map(
        (field) =>
          `${field.path.replace("/state/", "")} ${field[of] === undefined ? "-" : JSON.stringify(field[of])}`,
      )
      .join(", ");
  return { base: side("base"), candidate: side("candidate") };
}
