// The operation table: every operation of both domains. Adding an operation is one entry in its group and its types in
// `src/base/operations.ts`; whatever dispatches by name stops compiling until it handles the new one.
import type {
  Domain,
  HeapOperationName,
  KvOperationName,
  OperationName,
} from "../base/operations.js";
import type { OperationGroup, OperationSpec } from "./operation-spec.js";
import { FORWARD_OPERATIONS } from "./operation-table-forwards.js";
import { HEAP_OPERATIONS } from "./operation-table-heap.js";
import { HOST_OPERATIONS } from "./operation-table-host.js";
import { NET_OPERATIONS } from "./operation-table-net.js";
import { QUESTION_OPERATIONS } from "./operation-table-questions.js";
import { REQUEST_OPERATIONS } from "./operation-table-requests.js";
import { TREE_OPERATIONS } from "./operation-table-tree.js";
import { WHOLE_OPERATIONS } from "./operation-table-whole.js";

/** A value for every operation of domain `kv`; a missing kind does not compile. @public */
export type KvDispatcher<T> = { readonly [K in KvOperationName]: T };
/** A value for every operation of domain `heap`. @public */
export type HeapDispatcher<T> = { readonly [K in HeapOperationName]: T };

/** Domain `kv`, in the order of the format's page. @public */
export const KV_TABLE: OperationGroup<KvOperationName> = {
  ...REQUEST_OPERATIONS,
  ...FORWARD_OPERATIONS,
  ...HOST_OPERATIONS,
  ...NET_OPERATIONS,
  ...TREE_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...WHOLE_OPERATIONS,
};
/** Domain `heap`. @public */
export const HEAP_TABLE: OperationGroup<HeapOperationName> = HEAP_OPERATIONS;
/** Both domains. @public */
export const OPERATION_TABLE: OperationGroup<OperationName> = { ...KV_TABLE, ...HEAP_TABLE };

/** Every name of a domain, in table order. @public */
export function operationNames(domain: Domain): readonly OperationName[] {
  // the keys of a group are its names by type
  return Object.keys(domain === "kv" ? KV_TABLE : HEAP_TABLE) as OperationName[];
}

const BY_NAME: ReadonlyMap<string, OperationSpec> = new Map(
  Object.values<OperationSpec>(OPERATION_TABLE).map((spec) => [spec.name, spec]),
);

/** The entry of a word, or undefined where it is no operation. @public */
export function findOperation(word: string): OperationSpec | undefined {
  return BY_NAME.get(word);
}
