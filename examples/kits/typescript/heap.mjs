// The example heap as an implementation. It is also a module of its own: --candidate module:examples/kits/typescript/heap.mjs
import { FirstFit } from "./first-fit.mjs";
import { granted, invalid, moduleOf, refused, RefusedConfiguration } from "./unified-trace-kit.mjs";

export class Heap {
  static domain = "heap";

  constructor({ config }) {
    const arenaBytes = config.arena_bytes;
    if (!Number.isSafeInteger(arenaBytes) || arenaBytes <= 0)
      throw new RefusedConfiguration(`"arena_bytes" is not a number above 0`);
    this.heap = new FirstFit(arenaBytes);
    this.offsets = new Map(); // by lifetime
  }

  "heap.alloc"({ id, size_bytes, align_bytes }) {
    if (this.offsets.has(id)) return invalid("name_state", { req: id });
    const offset = this.heap.allocate(size_bytes, align_bytes);
    if (offset === null) return refused("refused_capacity", { limit: "bytes" });
    this.offsets.set(id, offset);
    return granted({ address_offset: offset });
  }

  "heap.free"({ id }) {
    const offset = this.offsets.get(id);
    if (offset === undefined) return invalid("unknown_request", { req: id });
    this.offsets.delete(id);
    this.heap.free(offset);
    return granted();
  }

  "heap.realloc"({ id, size_bytes }) {
    const offset = this.offsets.get(id);
    if (offset === undefined) return invalid("unknown_request", { req: id });
    const moved = this.heap.resize(offset, size_bytes);
    if (moved === null) return refused("refused_capacity", { limit: "bytes" });
    this.offsets.set(id, moved);
    return granted({ address_offset: moved });
  }
}

export const { info, createImplementation } = moduleOf(Heap, { name: "first-fit", version: "1" });
