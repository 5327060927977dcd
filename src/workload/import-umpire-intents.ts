// Umpire's older form: `event` and `payload`; what takes time has an intent line first and then, with the same payload,
// a line that has a `result` too. Between the two stand the events of what it does inside.
import { InputError } from "../base/errors.js";
import type { LogPlace } from "./import-format.js";
import { addressField, countField, own, part, textField } from "./import-fields.js";
import type { LogObject } from "./import-fields.js";
import { commitOf, versionOf } from "./import-umpire-events.js";
import type { EventAt, UmpireRun } from "./import-umpire-run.js";

/** Parts of one line. */
interface Line {
  readonly payload: LogObject;
  readonly result: unknown; // undefined: an intent, or an event of one line
  readonly pair: string; // the same on both lines of an operation
  readonly at: EventAt;
  readonly place: LogPlace;
}

type Handler = (line: Line, run: UmpireRun) => void;

const BOOKKEEPING = "bookkeeping of the map from addresses to allocations";

const HANDLERS: Readonly<Record<string, Handler>> = {
  version: ({ payload }, run) => {
    run.version(versionOf(payload), commitOf(payload));
  },
  makeMemoryResource: ({ payload, result, at, place }, run) => {
    const called = textField(payload, "name", place);
    run.makePool(textField({ result }, "result", place), called, "memory_resource", [], at);
  },
  makeAllocator: (line, run) => {
    const { payload, result, pair, at, place } = line;
    if (result === undefined) {
      run.begin(pair, at);
      return;
    }
    const reference = textField(resultOf(line), "allocator_ref", place);
    const called = textField(payload, "allocator_name", place);
    const introspection = own(payload, "with_introspection");
    const flags = introspection === undefined ? [] : [`introspection=${Number(introspection)}`];
    const args = [...flags, ...argumentsOf(line)];
    run.makePool(reference, called, textField(payload, "type", place), args, run.end(pair, at));
  },
  allocate: (line, run) => {
    const { payload, result, pair, at, place } = line;
    if (result === undefined) {
      run.begin(pair, at);
      return;
    }
    const size = countField(payload, "size", place);
    const pool = textField(payload, "allocator_ref", place);
    const address = addressField(resultOf(line), "memory_ptr", place);
    run.allocate(address, size, pool, run.end(pair, at), place);
  },
  deallocate: ({ payload, at, place }, run) => {
    run.free(addressField(payload, "memory_ptr", place), at, place);
  },
  reallocate,
  reallocate_ex: reallocate,
  copy: ({ payload, at, place }, run) => {
    const copied = {
      from: addressField(payload, "src", place),
      fromOffset: offset(payload, "src_offset", place),
      to: addressField(payload, "dest", place),
      toOffset: offset(payload, "dst_offset", place),
      size: countField(payload, "size", place),
    };
    run.copy(copied, at);
  },
  release: ({ payload, at, place }, run) => {
    run.release(textField(payload, "allocator_ref", place), at);
  },
  coalesce: ({ payload, at, place }, run) => {
    run.coalesce(textField(payload, "allocator_name", place), at);
  },
  setDefaultAllocator: ({ payload, place }, run) => {
    const called = run.called(textField(payload, "allocator_ref", place));
    run.mark(`set_default_allocator ${called}`);
  },
  move: (_, run) => {
    run.mark("move");
  },
  registerExternalAllocation: (_, run) => {
    run.mark("register_external_allocation");
  },
  deregisterExternalAllocation: (_, run) => {
    run.mark("deregister_external_allocation");
  },
  allocation_map_insert: (_, run) => {
    run.drop(BOOKKEEPING);
  },
  allocation_map_find: (_, run) => {
    run.drop(BOOKKEEPING);
  },
  allocation_map_remove: (_, run) => {
    run.drop(BOOKKEEPING);
  },
};

/** Hands one line to the run. Throws `InputError`. @internal */
export function translateIntent(
  line: LogObject,
  at: EventAt,
  run: UmpireRun,
  place: LogPlace,
): void {
  const name = textField(line, "event", place);
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (handler === undefined) {
    run.unknown(name);
    return;
  }
  const payload = part(line, "payload", place);
  const pair = `${name} ${JSON.stringify(payload)}`;
  handler({ payload, result: own(line, "result"), pair, at, place }, run);
}

function reallocate(line: Line, run: UmpireRun): void {
  const { payload, result, pair, at, place } = line;
  if (result === undefined) {
    const address = addressField(payload, "ptr", place);
    run.begin(pair, at, address, countField(payload, "size", place));
    return;
  }
  const pool = own(payload, "allocator_ref");
  const to = addressField(resultOf(line), "memory_ptr", place);
  run.reallocated(pair, to, typeof pool === "string" ? pool : null, at, place);
}

function resultOf({ result, place }: Line): LogObject {
  return part({ result }, "result", place);
}

function argumentsOf({ payload, place }: Line): readonly unknown[] {
  const args = own(payload, "args") ?? [];
  if (Array.isArray(args)) return args;
  throw new InputError("input_format", "args must be a list", place);
}

function offset(payload: LogObject, key: string, place: LogPlace): number {
  return own(payload, key) === undefined ? 0 : countField(payload, key, place);
}
