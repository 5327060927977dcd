// Where the scripts of worker threads lie: in the bundle for the bundle, among the built modules for everyone else, the sources
// under test too.

/** The script of a worker thread, by its module's path below dist (`tools/parallel/worker.js`). @internal */
export function builtScript(path: string): URL {
  const dist = new URL("../../dist/", import.meta.url); // as deep in src/base, dist/base and dist/bundle
  const isBundled = new URL(".", import.meta.url).href === new URL("bundle/", dist).href;
  if (!isBundled) return new URL(path, dist);
  return new URL(`bundle/${path.replaceAll("/", "-").replace(/\.js$/, ".cjs")}`, dist);
}
