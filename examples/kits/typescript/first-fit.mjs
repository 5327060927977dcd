// A small heap allocator: the first gap that is large enough. Offsets count from 0; nothing is kept in the memory.
const GRAIN_BYTES = 16; // sizes are rounded up to it, and every object begins on it

export class FirstFit {
  constructor(arenaBytes) {
    this.gaps = [[0, arenaBytes - (arenaBytes % GRAIN_BYTES)]]; // [from, to), ascending
    this.sizes = new Map(); // bytes by offset
  }

  /** The offset of the first place that fits, or null. */
  allocate(sizeBytes, alignBytes = GRAIN_BYTES) {
    const size = Math.max(GRAIN_BYTES, Math.ceil(sizeBytes / GRAIN_BYTES) * GRAIN_BYTES);
    const align = Math.max(GRAIN_BYTES, alignBytes);
    for (const [index, [start, end]] of this.gaps.entries()) {
      const place = Math.ceil(start / align) * align;
      if (place + size > end) continue;
      const around = [
        [start, place],
        [place + size, end],
      ];
      this.gaps.splice(index, 1, ...around.filter(([from, to]) => from < to));
      this.sizes.set(place, size);
      return place;
    }
    return null;
  }

  free(offset) {
    const { gaps, sizes } = this;
    const end = offset + sizes.get(offset);
    sizes.delete(offset);
    const found = gaps.findIndex(([from]) => from > offset);
    const index = found < 0 ? gaps.length : found;
    gaps.splice(index, 0, [offset, end]);
    // with its right neighbour, then with its left one
    for (const left of [index, index - 1])
      if (left >= 0 && left < gaps.length - 1 && gaps[left][1] === gaps[left + 1][0])
        gaps.splice(left, 2, [gaps[left][0], gaps[left + 1][1]]);
  }

  /** The new offset: elsewhere if that fits, else null, and nothing has changed. */
  resize(offset, sizeBytes) {
    const moved = this.allocate(sizeBytes);
    if (moved !== null) this.free(offset);
    return moved;
  }
}
