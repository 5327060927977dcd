// Where the scripts of worker threads lie. A thread starts the built module whoever asks: the bundle, the modules, or the
// sources under test.

/** A built module by its path below dist. @internal */
export function builtScript(path: string): URL {
  return new URL(`../../dist/${path}`, import.meta.url); // as deep in src/base, dist/base and dist/bundle
}
