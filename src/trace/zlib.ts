// Packing and unpacking, loaded where something is packed: loading it alone takes milliseconds of a short command.
import process from "node:process";
import type * as Zlib from "node:zlib";

/** Node's own module. @internal */
export function zlib(): typeof Zlib {
  return process.getBuiltinModule("node:zlib");
}
