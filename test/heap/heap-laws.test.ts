// Laws of the reference allocators over seeds, and each policy against the plainest form of its own rule: a list of live
// blocks, from which the free ones are worked out anew every time.
import { describe, expect, test } from "vitest";
import type { Answer, Operation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { HEAP_POLICIES, HeapAllocator } from "../../src/heap/heap-allocator.js";
import type { HeapPolicyName } from "../../src/heap/heap-allocator.js";
import { GRAIN_BYTES } from "../../src/heap/policy.js";

interface Block {
  offset: number;
  size: number;
}

/** Operations of one seed: sizes with a long tail, aligned now and then, about as many frees as allocations. */
function* operationsOf(seed: number, count: number): Generator<Operation> {
  const prng = new Prng(seed, 41);
  const live: string[] = [];
  for (let n = 0; n < count; n++) {
    const size = prng.chance(1, 10) ? prng.between(200, 3000) : prng.between(0, 120);
    if (live.length > 0 && prng.chance(9, 20)) {
      const [id] = live.splice(prng.below(live.length), 1);
      yield { op: "heap.free", args: { id: id! } };
    } else if (live.length > 0 && prng.chance(1, 5)) {
      yield { op: "heap.realloc", args: { id: prng.pick(live), size_bytes: size } };
    } else {
      const id = `o${n}`;
      live.push(id);
      const align = prng.chance(1, 6) ? { align_bytes: 2 ** prng.below(9) } : {};
      yield { op: "heap.alloc", args: { id, size_bytes: size, ...align } };
    }
  }
  for (const id of live) yield { op: "heap.free", args: { id } };
}

/** Asks, and keeps what lives where; operations on what was refused are left out. */
function driven(
  policy: HeapPolicyName,
  arenaBytes: number,
  seed: number,
  look: (live: ReadonlyMap<string, Block>, answer: Answer, operation: Operation) => void,
): HeapAllocator {
  const heap = new HeapAllocator(policy, arenaBytes);
  const live = new Map<string, Block>();
  for (const operation of operationsOf(seed, 300)) {
    const { id, size_bytes: bytes = 0 } = operation.args as { id: string; size_bytes?: number };
    if (operation.op !== "heap.alloc" && !live.has(id)) continue;
    const answer = heap.apply(operation);
    const { address_offset: offset } = (answer.ok ?? {}) as { address_offset?: number };
    if (operation.op === "heap.free") live.delete(id);
    else if (offset !== undefined) live.set(id, { offset, size: bytes });
    look(live, answer, operation);
  }
  return heap;
}

const SEEDS = Array.from({ length: 8 }, (_, seed) => seed);
const grains = (bytes: number): number => Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;

describe.each(HEAP_POLICIES)("%s", (policy) => {
  test.each([1024, 5000, 1 << 16])(
    "objects never overlap, lie inside %i bytes, aligned",
    (arena) => {
      let refused = 0;
      for (const seed of SEEDS) {
        driven(policy, arena, seed, (live, answer, operation) => {
          refused += answer.err === undefined ? 0 : 1;
          if (answer.err !== undefined) expect(answer.err.code).toBe("refused_capacity");
          const blocks = [...live.values()].sort((left, right) => left.offset - right.offset);
          let end = 0;
          const wrong = blocks.filter(({ offset, size }) => {
            const isWrong = offset < end || offset % GRAIN_BYTES !== 0;
            end = offset + Math.max(1, size); // nothing too has a place of its own
            return isWrong;
          });
          expect([wrong.length, end <= arena]).toEqual([0, true]);
          if (operation.op !== "heap.alloc" || answer.ok === undefined) return;
          const { id, align_bytes: align = 1 } = operation.args;
          expect(live.get(id)!.offset % align).toBe(0);
        });
      }
      if (arena === 1024) expect(refused).toBeGreaterThan(50);
    },
  );

  test("what is in use adds up after every operation, and is nothing when all is freed", () => {
    for (const seed of SEEDS) {
      const heap = new HeapAllocator(policy, 5000);
      const sizes = new Map<string, number>();
      for (const operation of operationsOf(seed, 300)) {
        const { id, size_bytes: bytes = 0 } = operation.args as { id: string; size_bytes?: number };
        const answer = heap.apply(operation);
        if (operation.op === "heap.free") sizes.delete(id);
        else if (answer.ok !== undefined) sizes.set(id, bytes);
        const { live, requestedBytes, usedBytes, endBytes } = heap.use;
        const sum = [...sizes.values()].reduce((total, size) => total + size, 0);
        expect([live, requestedBytes]).toEqual([sizes.size, sum]);
        expect(usedBytes >= requestedBytes && endBytes >= usedBytes).toBe(true);
      }
      expect(heap.use).toEqual({ live: 0, requestedBytes: 0, usedBytes: 0, endBytes: 0 });
      // one free block again: all of it is to be had at once (the buddy system's largest is 4,096)
      const whole = policy === "buddy" ? 4096 : policy === "tlsf" ? 4864 : 4992;
      const all = { op: "heap.alloc", args: { id: "all", size_bytes: whole } } as const;
      expect(heap.apply(all)).toEqual({ ok: { address_offset: 0 } });
    }
  });

  test("a refusal changes nothing", () => {
    for (const seed of SEEDS) {
      const heap = new HeapAllocator(policy, 1024);
      const twin = new HeapAllocator(policy, 1024);
      for (const operation of operationsOf(seed, 300)) {
        const before = heap.use;
        const answer = heap.apply(operation);
        if (answer.err !== undefined) expect(heap.use).toEqual(before);
        else expect(twin.apply(operation)).toEqual(answer); // which was never asked what is refused
      }
    }
  });

  test("a name that lives, and one that does not", () => {
    const heap = new HeapAllocator(policy, null);
    const alloc = { op: "heap.alloc", args: { id: "a", size_bytes: 8 } } as const;
    expect(heap.apply(alloc).ok).toEqual({ address_offset: 0 });
    expect(heap.apply(alloc).err).toMatchObject({ code: "invalid", rule: "name_state" });
    for (const operation of [
      { op: "heap.free", args: { id: "b" } },
      { op: "heap.realloc", args: { id: "b", size_bytes: 1 } },
      { op: "heap.copy", args: { from: "a", to: "b", bytes: 1 } },
    ] as const)
      expect(heap.apply(operation).err).toMatchObject({ rule: "unknown_request", req: "b" });
    const copy = { op: "heap.copy", args: { from: "a", to: "a", bytes: 1 } } as const;
    expect(heap.apply(copy)).toEqual({ ok: {} });
  });
});

/** What is free between live blocks, in the order of offsets. */
function holesOf(live: Iterable<Block>, arena: number): Block[] {
  const holes: Block[] = [];
  let end = 0;
  const used = [...live].sort((left, right) => left.offset - right.offset);
  for (const { offset, size } of [...used, { offset: arena, size: 0 }]) {
    if (offset > end) holes.push({ offset: end, size: offset - end });
    end = Math.max(end, offset + grains(size));
  }
  return holes;
}

const CHOICES: Readonly<Record<"first-fit" | "best-fit", (holes: Block[]) => Block[]>> = {
  "first-fit": (holes) => holes,
  "best-fit": (holes) =>
    holes.sort((left, right) => left.size - right.size || left.offset - right.offset),
};

describe.each(["first-fit", "best-fit"] as const)("%s by its rule", (policy) => {
  test.each(SEEDS)("each allocation goes where the plain form puts it (seed %i)", (seed) => {
    const arena = 4096;
    let before: Block[] = [];
    let looked = 0;
    driven(policy, arena, seed, (live, answer, operation) => {
      if (operation.op === "heap.alloc") {
        const { size_bytes: bytes, align_bytes: align = 1 } = operation.args;
        const to = Math.max(align, GRAIN_BYTES);
        const place = (hole: Block): number => Math.ceil(hole.offset / to) * to;
        const hole = CHOICES[policy](holesOf(before, arena)).find(
          (each) => place(each) + grains(bytes) <= each.offset + each.size,
        );
        const { address_offset: offset } = (answer.ok ?? {}) as { address_offset?: number };
        expect(offset).toBe(hole === undefined ? undefined : place(hole));
        looked += 1;
      }
      before = [...live.values()].map((block) => ({ ...block }));
    });
    expect(looked).toBeGreaterThan(100);
  });
});

test("buddy: a block lies at a multiple of its size, which is a power of two", () => {
  for (const seed of SEEDS) {
    driven("buddy", 1 << 14, seed, (live) => {
      const wrong = [...live.values()].filter(({ offset, size }) => {
        let power = GRAIN_BYTES;
        while (power < size) power *= 2;
        return offset % power !== 0;
      });
      expect(wrong).toEqual([]);
    });
  }
});

test("tlsf: what is taken is at most a sixteenth larger than needed, or rounding up would be refused", () => {
  // Holes of 20 and of 24 grains: a request for 20 grains takes the hole of its own class only if all of that class fit.
  const heap = new HeapAllocator("tlsf", null);
  const alloc = (id: string, count: number): Answer =>
    heap.apply({ op: "heap.alloc", args: { id, size_bytes: count * GRAIN_BYTES } });
  for (const [id, count] of [
    ...([
      ["a", 20],
      ["x", 1],
      ["b", 24],
      ["y", 1],
    ] as const),
  ])
    alloc(id, count);
  for (const id of ["a", "b"]) heap.apply({ op: "heap.free", args: { id } });
  // 16 to 31 grains have a class each: exactly 20 fit
  expect(alloc("c", 20).ok).toEqual({ address_offset: 0 });
  // 33 grains share a class with 32: the class above is taken, here the arena's rest behind all of it
  expect(alloc("d", 33).ok).toEqual({ address_offset: 46 * GRAIN_BYTES });
});

test("growing in place takes the free neighbour; else the object moves, and both lie there for a moment", () => {
  for (const policy of ["first-fit", "best-fit", "tlsf"] as const) {
    const heap = new HeapAllocator(policy, 256);
    const ask = (op: "heap.alloc" | "heap.realloc", id: string, size: number): Answer =>
      heap.apply({ op, args: { id, size_bytes: size } });
    ask("heap.alloc", "a", 32);
    ask("heap.alloc", "b", 32);
    ask("heap.alloc", "c", 32);
    heap.apply({ op: "heap.free", args: { id: "b" } });
    expect(ask("heap.realloc", "a", 64).ok).toEqual({ address_offset: 0 }); // over b's place
    expect(ask("heap.realloc", "a", 96).ok).toEqual({ address_offset: 96 }); // behind c
    expect(heap.use.endBytes).toBe(192);
    expect(ask("heap.realloc", "a", 176).err?.code).toBe("refused_capacity"); // 160 bytes are left behind c
    expect(ask("heap.realloc", "a", 160).ok).toEqual({ address_offset: 96 });
    expect(ask("heap.realloc", "a", 16).ok).toEqual({ address_offset: 96 });
    expect(heap.use).toEqual({ live: 2, requestedBytes: 48, usedBytes: 48, endBytes: 112 });
  }
});
