// Whether a library file holds all that its header promises. The system maps one that was cut short without a word, and the
// process dies at the first byte that is not there.
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const ELF = 0x7f454c46;
const IS_64_BIT = 2;
const IS_LITTLE_ENDIAN = 1;

/**
 * Why a library must not be loaded: it is shorter than its segments and sections. Null for a whole one, and for files of another form
 * than 64-bit ELF and for no file at all, which the loader tells itself. Throws where the file cannot be read.
 * @internal
 */
export function cutShort(path: string): string | null {
  if (!existsSync(path)) return null;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const header = bytesAt(file, 0, HEADER_BYTES);
    if (header.length < HEADER_BYTES || header.readUInt32BE(0) !== ELF) return null;
    if (header[4] !== IS_64_BIT || header[5] !== IS_LITTLE_ENDIAN) return null;
    const end = Math.max(endOfSegments(file, header), endOfSections(header));
    return size < end ? `the file is cut short: ${size} of at least ${end} bytes` : null;
  } finally {
    closeSync(file);
  }
}

// Offsets as the ELF-64 object file format gives them: e_phoff 32, e_phentsize 54, e_phnum 56; p_offset 8, p_filesz 32.
function endOfSegments(file: number, header: Buffer): number {
  const [at, bytes, count] = [wide(header, 32), header.readUInt16LE(54), header.readUInt16LE(56)];
  let end = at + bytes * count;
  if (bytes < SEGMENT_BYTES || !Number.isSafeInteger(end)) return end;
  const table = bytesAt(file, at, bytes * count);
  for (let entry = 0; entry + bytes <= table.length; entry += bytes)
    end = Math.max(end, wide(table, entry + 8) + wide(table, entry + 32));
  return end;
}

// e_shoff 40, e_shentsize 58, e_shnum 60: the table of sections stands last.
function endOfSections(header: Buffer): number {
  return wide(header, 40) + header.readUInt16LE(58) * header.readUInt16LE(60);
}

const wide = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));

function bytesAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
}
