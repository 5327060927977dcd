// What a heap allocator decides: where an object of so many bytes lies.

/** Every block begins and ends on a multiple of this many bytes. @internal */
export const GRAIN_BYTES = 16;

/** Where objects lie in one arena. Offsets are bytes from its beginning. @internal */
export interface PlacementPolicy {
  /** The offset of a new block of at least `bytes`, a multiple of `align`; null where none fits. */
  allocate(bytes: number, align: number): number | null;
  /** Gives the block at an offset back; it must be live. */
  free(offset: number): void;
  /** Makes the live block at an offset hold `bytes`, where it lies; false where that cannot be, and nothing changed. */
  resize(offset: number, bytes: number): boolean;
  /** Where the free bytes that reach the arena's end begin: the bytes that are in use reach up to here. */
  readonly end: number;
  /** Bytes of all live blocks. */
  readonly usedBytes: number;
}

/** `bytes` rounded up to whole grains, one at least: nothing too has a place of its own. @internal */
export function wholeGrains(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;
}

/** `offset` rounded up to a multiple of `align`. @internal */
export function aligned(offset: number, align: number): number {
  return Math.ceil(offset / align) * align;
}
