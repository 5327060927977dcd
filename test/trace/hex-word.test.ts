// Four characters at once: the same answer as one at a time, for every byte in every place.
import { expect, test } from "vitest";
import { areHexDigits } from "../../src/trace/hex-word.js";

test("every byte among digits and letters", () => {
  for (const others of ["0000", "ffff", "09af"]) {
    for (let place = 0; place < 4; place++) {
      for (let byte = 0; byte < 256; byte++) {
        const bytes = Buffer.from(others, "latin1");
        bytes[place] = byte;
        const isHex = /^[0-9a-f]{4}$/.test(bytes.toString("latin1"));
        expect(areHexDigits(bytes.readInt32LE(0)), bytes.toString("hex")).toBe(isHex);
      }
    }
  }
});
