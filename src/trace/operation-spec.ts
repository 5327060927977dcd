// One entry of the operation table.
import type { EFFECT_KINDS } from "../base/effects.js";
import type {
  Domain,
  HeapOperationName,
  OperationArgs,
  OperationName,
  OperationOk,
  RefusalCode,
} from "../base/operations.js";
import type { AnySpec, MustEqual, Spec, TypeOf } from "./fields.js";

/** @public */
export type EffectKind = (typeof EFFECT_KINDS)[number];

/** What the project knows of one operation. @public */
export interface OperationSpec<K extends OperationName = OperationName> {
  readonly name: K;
  readonly domain: Domain;
  readonly doc: string; // one line
  readonly args: Spec<OperationArgs[K]>;
  readonly ok: Spec<OperationOk[K]>;
  readonly refusals: readonly RefusalCode[]; // beside `invalid`, which every operation may answer
  readonly effects: readonly EffectKind[]; // those its `fx` may hold
  readonly isQuestion: boolean; // changes nothing; has no effects and no digest
  readonly isTake: boolean; // hands out pages, slots or ids; its `ok` has `step`
  /** Half of a pair without a name of its own: the end belongs to the last opening with equal arguments. */
  readonly bracket: "opens" | "closes" | null;
}

/** Entries by name. @public */
export type OperationGroup<K extends OperationName> = {
  readonly [P in K]: OperationSpec<P>;
};

/** What the author of an entry states; the rest follows. */
interface Parts<A extends AnySpec, O extends AnySpec> {
  readonly doc: string;
  readonly args: A;
  readonly ok: O;
  readonly refusals?: readonly RefusalCode[];
  readonly effects?: readonly EffectKind[];
  readonly bracket?: "opens" | "closes";
}

/** Effects of every operation that may settle, flush or relocate before it hands out. */
const TAKE_EFFECTS: readonly EffectKind[] = ["hostread", "wait", "hostwait", "move", "zero"];
const TAKE_REFUSALS: readonly RefusalCode[] = [
  "refused_ids",
  "refused_state",
  "refused_capacity",
  "deadline",
];

/** An entry whose fields must be exactly those of the operation types. @internal */
export function operation<K extends OperationName, A extends AnySpec, O extends AnySpec>(
  name: K,
  parts: Parts<A, O> & {
    readonly args: MustEqual<TypeOf<A>, OperationArgs[K]>;
    readonly ok: MustEqual<TypeOf<O>, OperationOk[K]>;
  },
): OperationSpec<K> {
  return entry(name, parts, false, false);
}

/** A take: its refusals and effects come first, more may be given. @internal */
export function take<K extends OperationName, A extends AnySpec, O extends AnySpec>(
  name: K,
  parts: Parts<A, O> & {
    readonly args: MustEqual<TypeOf<A>, OperationArgs[K]>;
    readonly ok: MustEqual<TypeOf<O>, OperationOk[K]>;
  },
): OperationSpec<K> {
  const refusals = [...TAKE_REFUSALS, ...(parts.refusals ?? [])];
  const effects = [...TAKE_EFFECTS, ...(parts.effects ?? [])];
  return entry(name, { ...parts, refusals, effects }, false, true);
}

/** A question: it changes nothing. @internal */
export function question<K extends OperationName, A extends AnySpec, O extends AnySpec>(
  name: K,
  parts: Omit<Parts<A, O>, "refusals" | "effects"> & {
    readonly args: MustEqual<TypeOf<A>, OperationArgs[K]>;
    readonly ok: MustEqual<TypeOf<O>, OperationOk[K]>;
  },
): OperationSpec<K> {
  return entry(name, parts, true, false);
}

function entry<K extends OperationName>(
  name: K,
  parts: Parts<AnySpec, AnySpec>,
  isQuestion: boolean,
  isTake: boolean,
): OperationSpec<K> {
  return {
    name,
    domain: isHeapName(name) ? "heap" : "kv",
    doc: parts.doc,
    // MustEqual of the three makers above has compared these with the declared types
    args: parts.args as Spec<OperationArgs[K]>,
    ok: parts.ok as Spec<OperationOk[K]>,
    refusals: parts.refusals ?? [],
    effects: parts.effects ?? [],
    isQuestion,
    isTake,
    bracket: parts.bracket ?? null,
  };
}

function isHeapName(name: OperationName): name is HeapOperationName {
  return name.startsWith("heap.") || name === "pool.make";
}
