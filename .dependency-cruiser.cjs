// The architecture diagram, as rules. Read ROOMS from top to bottom as floors of a house: a room imports only from
// floors below it, and only the rooms its line names. src/index.ts stands on the roof and only re-exports.
//
//   floor 6   cli          prints, reads the environment, sets the exit code
//   floor 5   report       result data to text, JSON, JUnit, GitHub, Markdown, HTML
//   floor 4   tools        record, replay, compare, audit, shrink, stress, bisect
//   floor 3   adapter      drives any implementation        workload   makes operations
//   floor 2   device       carries effects out
//   floor 1   trace        the file format    kv   the allocator    reference   the second allocator
//             heap         reference allocators of addresses
//   floor 0   base         words, units, errors, digests

/** @type {Record<string, string[]>} room → rooms it may import (itself always) */
const ROOMS = {
  base: [],
  trace: ["base"],
  kv: ["base"],
  reference: ["base"],
  heap: ["base"],
  device: ["base", "kv"],
  adapter: ["base", "trace", "kv", "reference", "heap", "device"],
  workload: ["base", "trace"],
  tools: ["base", "trace", "kv", "reference", "heap", "device", "adapter", "workload"],
  report: ["base", "trace", "kv", "reference", "heap", "device", "adapter", "workload", "tools"],
  cli: [
    "base",
    "trace",
    "kv",
    "reference",
    "heap",
    "device",
    "adapter",
    "workload",
    "tools",
    "report",
  ],
};

/** @type {Record<string, string[]>} package → rooms that use it; a package not named here is used by no room */
const PACKAGES = {
  commander: ["cli"],
  chalk: ["report", "cli"],
  diff: ["report"],
  "hyparquet-writer": ["tools"],
  ndjson: ["workload", "adapter", "tools", "cli"],
  uplot: ["report"], // bundled into the report page at build time
};

const anyOf = (names) => `(${names.join("|")})`;
const packagePath = (names) => `(^|/)node_modules/(@types/)?${anyOf(names)}(/|$)`;

const floors = Object.entries(ROOMS).map(([room, below]) => ({
  name: `floor-of-${room}`,
  comment: `src/${room} imports ${below.length === 0 ? "no other room" : `only ${below.join(", ")}`}.`,
  severity: "error",
  from: { path: `^src/${room}/` },
  to: { path: "^src/", pathNot: `^src/${anyOf([room, ...below])}/` },
}));

const packages = Object.entries(PACKAGES).map(([name, rooms]) => ({
  name: `package-${name}`,
  comment: `${name} is used by ${rooms.join(", ")} only.`,
  severity: "error",
  from: { path: "^src/", pathNot: `^src/${anyOf(rooms)}/` },
  to: { path: packagePath([name]) },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...floors,
    ...packages,
    {
      name: "known-room",
      comment: "Every source file lives in a room; only index.ts stands beside them.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(index\\.ts$|${anyOf(Object.keys(ROOMS))}/)` },
      to: {},
    },
    {
      name: "roof",
      comment: "src/index.ts is the public face; nothing inside imports it.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^src/index\\.ts$" },
    },
    {
      name: "no-cycle",
      comment: "A cycle is one module that pretends to be two.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "pure-allocators",
      comment: "kv, reference and heap know no machine: no node: module and no package.",
      severity: "error",
      from: { path: "^src/(kv|reference|heap)/" },
      to: { pathNot: "^src/" },
    },
    {
      name: "one-loader",
      comment: "Only device/native-loader.ts loads the addon.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/device/native-loader\\.ts$" },
      to: { path: "\\.node$|^(node:)?module$|(^|/)node-addon-api(/|$)" },
    },
    {
      name: "listed-packages",
      comment: "A package that src imports is a dependency and has a line in PACKAGES.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "node_modules/", pathNot: packagePath(Object.keys(PACKAGES)) },
    },
    {
      name: "inside-src",
      comment: "src imports nothing from tests, scripts, examples or outputs.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|scripts|examples|bench|dist|build|bin)/" },
    },
    {
      name: "resolvable",
      comment: "Generated validators exist after a build and are excused before it.",
      severity: "error",
      from: { path: "^src/" },
      to: { couldNotResolve: true, pathNot: "generated/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/(trace|report/html)/generated/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
    },
  },
};
