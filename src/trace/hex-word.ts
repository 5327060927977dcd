// Four characters at once, as they lie in 32 bits.

/**
 * Whether four bytes are lower-case hexadecimal digits. `letters` has a 1 for each byte with bit 6 set: digits have 3 in their
 * upper half and at most 9 in the lower one, letters 6 and from 1 to 6. No sum runs over into the next byte. @internal
 */
export function areHexDigits(word: number): boolean {
  const letters = (word >>> 6) & 0x01010101;
  const low = word & 0x0f0f0f0f;
  return (
    (word & 0xf0f0f0f0) === 0x30303030 + letters * 0x30 &&
    ((low + 0x06060606 + 3 * letters) & 0x10101010) === 0 &&
    ((low + 15 * letters) & 0x10101010) === letters << 4
  );
}
