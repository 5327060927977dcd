// The version of the package that this code belongs to.
import { readFileSync } from "node:fs";

/** Version in the `package.json` of the folder that holds `src` or `dist`. @internal */
export function readOwnVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}
