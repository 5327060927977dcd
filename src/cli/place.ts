// Where this package lies, and what stands in its package.json.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of package.json (this file lies two folders below it, in dist/cli). @internal */
export const PACKAGE_ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** A path inside the package. @internal */
export function inPackage(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** The version in package.json. @internal */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
  return (manifest as { version: string }).version;
}
