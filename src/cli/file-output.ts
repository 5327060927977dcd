// Standard output that leads to a file. The stream that Node makes for it takes a write of which the system took only a
// part, as it does on a disk that fills up, for a whole one: half an answer would look like all of it.
import { fstatSync } from "node:fs";
import process from "node:process";
import { Writable } from "node:stream";
import { writeAll } from "../trace/writer-sink.js";

const STDOUT_FD = 1;

/** Standard output: of this process as it is, but a file is written to the last byte or with an error. @internal */
export function standardOutput(): Writable {
  return isFile(STDOUT_FD) ? fileOutput(STDOUT_FD) : process.stdout;
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false; // closed from the start
  }
}

function fileOutput(fd: number): Writable {
  return new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      try {
        writeAll(fd, chunk);
      } catch (error) {
        done(error as Error);
        return;
      }
      done();
    },
  });
}
