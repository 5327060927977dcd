// Becomes dist/bundle/start.cjs: loads the scripts of the bundle, each only while the modules it was made of are as they
// were, and gives V8 what it compiled of them at build time (scripts/bundle-code.cjs). V8 takes that only from the very Node
// that made it; else it compiles the scripts anew.
const { closeSync, existsSync, fstatSync, openSync } = require("node:fs");
const { readFileSync, readSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");

const STALE = "dist was changed after it was bundled: run npm run build";

const loaded = new Map(); // modules of Node's kind, done or under way, by the script's name
const compiled = new Map(); // V8's scripts, by name
const fresh = new Set(); // names of scripts whose modules were looked at
const stamp = join(__dirname, "modules.json");
const { commands, scripts } = JSON.parse(readFileSync(stamp, "latin1"));
// unpacking a package gives its files times of their own, so there sizes alone count
const isPackage = existsSync(join(__dirname, "..", "revision.json"));
const builtAt = isPackage ? Infinity : statSync(stamp).mtimeMs;
const code = openCode();

/** Whether a script and what it imports are whole, and the modules they were made of as they were. */
function isFresh(name) {
  if (fresh.has(name)) return true;
  fresh.add(name);
  const { bytes, imports, modules } = scripts[name];
  return statOf(name)?.size === bytes && modules.every(isUnchanged) && imports.every(isFresh);
}

const statOf = (path) => statSync(`${__dirname}/${path}`, { throwIfNoEntry: false });

// Sizes too: a copy may bring an old time with it.
function isUnchanged([path, bytes]) {
  const stat = statOf(`../${path}`);
  return stat?.size === bytes && stat.mtimeMs <= builtAt;
}

/** What was compiled: one file of pieces, and where each lies. Without it everything works, only slower. */
function openCode() {
  try {
    const index = join(__dirname, "code.json");
    const { bytes, places } = JSON.parse(readFileSync(index, "latin1"));
    const file = openSync(join(__dirname, "code.bin"), "r");
    if (fstatSync(file).size === bytes) return { file, madeAt: statSync(index).mtimeMs, places };
    closeSync(file);
    return null;
  } catch {
    return null;
  }
}

const HEAD = Buffer.from("(function (exports, require, module, __filename, __dirname) {");
const TAIL = Buffer.from("\n})");
let room = Buffer.alloc(0); // one for all files: memory that was touched before costs less

/** Reads into `room`, from `at` on; false where the file is shorter. */
function read(file, offset, length, at) {
  const bytes = at + length + TAIL.length;
  if (room.length < bytes) room = Buffer.allocUnsafeSlow(bytes);
  return readSync(file, room, at, length, offset) === length;
}

/** A script as a function, and when it was written. scripts/build-bundle.mjs writes plain ASCII. */
function scriptOf(filename) {
  const file = openSync(filename, "r");
  try {
    const { mtimeMs, size } = fstatSync(file);
    if (!read(file, 0, size, HEAD.length)) throw new Error(`${filename} was cut while it was read`);
    HEAD.copy(room);
    TAIL.copy(room, HEAD.length + size);
    return { text: room.latin1Slice(0, HEAD.length + size + TAIL.length), mtimeMs };
  } finally {
    closeSync(file);
  }
}

// V8 tells another script by its length alone: one that was written later is compiled anew
function compiledOf(name, mtimeMs) {
  const place = code?.places?.[name];
  if (!Array.isArray(place) || mtimeMs > code.madeAt) return undefined;
  const [offset, length, sum] = place;
  if (!read(code.file, offset, length, 0)) return undefined;
  const piece = room.subarray(0, length);
  return sumOf(piece) === sum ? piece : undefined; // V8 would run damaged code
}

/** A number that tells any one damaged word. @param bytes - at the begin of its memory */
function sumOf(bytes) {
  const words = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
  let sum = bytes.length;
  for (let at = 0; at < words.length; at++) sum = (Math.imul(sum, 31) + words[at]) | 0;
  for (let at = words.length << 2; at < bytes.length; at++)
    sum = (Math.imul(sum, 31) + bytes[at]) | 0;
  return sum;
}

function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  if (!isFresh(name)) {
    // some of it runs already and cannot be taken back
    process.stderr.write(`unified-trace: ${STALE}\n`);
    process.exit(4);
  }
  const filename = join(__dirname, name);
  const { text, mtimeMs } = scriptOf(filename);
  const script = new Script(text, { filename, cachedData: compiledOf(name, mtimeMs) });
  compiled.set(name, script);
  const module = { exports: {} };
  loaded.set(name, module);
  script.runInThisContext()(module.exports, requireOf, module, filename, __dirname);
  return module.exports;
}

const requireOf = (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id));

/** The command line, where it and this command were bundled of the modules as they are; else null. */
exports.commandLine = (command) => {
  const own = Object.hasOwn(commands, command) ? [commands[command]] : [];
  return ["main.cjs", ...own].every(isFresh) ? load("main.cjs") : null;
};

/**
 * Starts a worker thread: by its script, which Node loads itself (it may import other modules), or by its module (a path
 * below dist) where anything at all is out of date: what the thread loads later is not looked at any more.
 */
exports.worker = (name, path) => {
  if (Object.keys(scripts).every(isFresh)) require(`./${name}`);
  else return import(pathToFileURL(join(__dirname, "..", path)).href);
};

exports.sumOf = sumOf;

/** What V8 made of the scripts that were loaded, by name. */
exports.compiled = compiled;
