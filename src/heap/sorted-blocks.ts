// Free blocks in an order, in buckets of bounded length: to find, insert and remove one costs a walk over the buckets and
// a search in one of them.

/** Bytes that are free. @internal */
export interface FreeBlock {
  readonly offset: number; // bytes
  readonly size: number; // bytes
}

interface Bucket {
  readonly blocks: FreeBlock[];
  largest: number; // size of its largest block
}

const BUCKET_MOST = 256; // blocks; a longer bucket becomes two

/** @internal */
export class SortedBlocks {
  readonly #compare: (left: FreeBlock, right: FreeBlock) => number;
  readonly #buckets: Bucket[] = [];

  constructor(compare: (left: FreeBlock, right: FreeBlock) => number) {
    this.#compare = compare;
  }

  insert(block: FreeBlock): void {
    const bucket = this.#buckets[this.#bucketOf(block)];
    if (bucket === undefined) {
      this.#buckets.push({ blocks: [block], largest: block.size });
      return;
    }
    bucket.blocks.splice(this.#placeIn(bucket, block), 0, block);
    bucket.largest = Math.max(bucket.largest, block.size);
    if (bucket.blocks.length > BUCKET_MOST) this.#split(bucket);
  }

  remove(block: FreeBlock): void {
    const index = this.#bucketOf(block);
    const bucket = this.#buckets[index];
    if (bucket === undefined) return;
    bucket.blocks.splice(this.#placeIn(bucket, block), 1);
    if (bucket.blocks.length === 0) this.#buckets.splice(index, 1);
    else if (block.size === bucket.largest) bucket.largest = largestOf(bucket.blocks);
  }

  /** The first block in order that is of at least `size` bytes and that `fits` takes; undefined where there is none. */
  first(size: number, fits: (block: FreeBlock) => boolean): FreeBlock | undefined {
    for (const bucket of this.#buckets) {
      if (bucket.largest < size) continue;
      const found = bucket.blocks.find((block) => block.size >= size && fits(block));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The bucket that holds a block, or where it belongs: the last one whose first block is not behind it. */
  #bucketOf(block: FreeBlock): number {
    let low = 0;
    let high = this.#buckets.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      const first = this.#buckets[middle]?.blocks[0];
      if (first !== undefined && this.#compare(first, block) <= 0) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Where a block stands in its bucket, or where it belongs. */
  #placeIn({ blocks }: Bucket, block: FreeBlock): number {
    let low = 0;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(blocks[middle] ?? block, block) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(bucket: Bucket): void {
    const upper = bucket.blocks.splice(BUCKET_MOST >> 1);
    bucket.largest = largestOf(bucket.blocks);
    const at = this.#buckets.indexOf(bucket) + 1;
    this.#buckets.splice(at, 0, { blocks: upper, largest: largestOf(upper) });
  }
}

function largestOf(blocks: readonly FreeBlock[]): number {
  let largest = 0;
  for (const { size } of blocks) if (size > largest) largest = size;
  return largest;
}
