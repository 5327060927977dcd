// Seeded random numbers (sfc32 over a splitmix-style seeding): the same seed gives the same draws on every machine.

/** One stream of draws. Never shared between consumers whose order may differ. @public */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed - integer in `[0, 2^53)`; @param stream - separates consumers of one seed */
  constructor(seed: number, stream = 0) {
    let x =
      (Math.imul((seed % 4294967296) | 0, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) | 0;
    x ^= Math.floor(seed / 4294967296);
    const next = (): number => {
      x = (x + 0x9e3779b9) | 0;
      let z = x ^ (x >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z ^= z >>> 15;
      z = Math.imul(z, 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    for (let i = 0; i < 12; i++) this.#next();
  }

  #next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return t >>> 0;
  }

  /** Integer in `[0, 2^32)`. */
  uint32(): number {
    return this.#next();
  }

  /** Integer in `[0, bound)`, `1 <= bound <= 2^32`; unbiased by rejection. */
  below(bound: number): number {
    const limit = 4294967296 - (4294967296 % bound);
    let draw = this.#next();
    while (draw >= limit) draw = this.#next();
    return draw % bound;
  }

  /** Integer in `[low, high]`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with probability `numerator / denominator`. */
  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator;
  }

  /** One of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    // below() is smaller than the length
    return list[this.below(list.length)] as T;
  }

  /** Index drawn with integer weights, at least one of them above 0. */
  weighted(weights: readonly number[]): number {
    let total = 0;
    for (const weight of weights) total += weight;
    let draw = this.below(total);
    for (let i = 0; i < weights.length; i++) {
      const weight = weights[i] ?? 0;
      if (draw < weight) return i;
      draw -= weight;
    }
    return weights.length - 1;
  }
}
