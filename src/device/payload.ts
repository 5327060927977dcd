// What stamped bytes look like: the arithmetic of `native/include/ut/payload.h`, for the device without native code.

/** Stamp under which a unit whose words do not belong together enters a page's hash. @internal */
export const TORN = 0xffffffff;

/** The cell field of units in a page's hash. @internal */
export const UNIT_FIELD = 0x5801;

/**
 * Word `word` (32 bits, counted from 0) of a unit that carries `stamp`, as int32: the stamp itself, then words that
 * depend on both. A unit of stamp 0 is all zeros.
 * @internal
 */
export function payloadWord(stamp: number, word: number): number {
  if (stamp === 0 || word === 0) return stamp | 0;
  let h = (stamp + Math.imul(word, -1640531527)) | 0; // 0x9e3779b9 as int32
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  return h ^ (h >>> 15);
}
