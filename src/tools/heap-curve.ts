// A curve of bounded length: of each stretch of a run the highest values are kept, and stretches grow as the run does.

/** Bytes after an operation, the highest of a stretch. @public */
export interface HeapPoint {
  readonly n: number; // last operation of the stretch
  readonly requestedBytes: number; // of live objects
  readonly usedBytes: number; // of their blocks; 0 where nothing tells
  readonly endBytes: number; // where the last block ends; 0 where nothing tells
}

const POINTS_MOST = 128;

/** @internal */
export class HeapCurve {
  #points: HeapPoint[] = [];
  #stretch = 1; // operations a point stands for
  #taken = 0; // operations of the point under way
  #open: HeapPoint | null = null;

  add(point: HeapPoint): void {
    this.#open = this.#open === null ? point : highest(this.#open, point);
    this.#taken += 1;
    if (this.#taken < this.#stretch) return;
    this.#points.push(this.#open);
    this.#open = null;
    this.#taken = 0;
    if (this.#points.length < POINTS_MOST) return;
    this.#points = this.#points.flatMap((even, index) => {
      const odd = this.#points[index + 1];
      return index % 2 === 0 ? [odd === undefined ? even : highest(even, odd)] : [];
    });
    this.#stretch *= 2;
  }

  get points(): readonly HeapPoint[] {
    return this.#open === null ? this.#points : [...this.#points, this.#open];
  }
}

function highest(left: HeapPoint, right: HeapPoint): HeapPoint {
  return {
    n: right.n,
    requestedBytes: Math.max(left.requestedBytes, right.requestedBytes),
    usedBytes: Math.max(left.usedBytes, right.usedBytes),
    endBytes: Math.max(left.endBytes, right.endBytes),
  };
}
