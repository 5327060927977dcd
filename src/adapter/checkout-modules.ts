// `npm ci` once for each lock file: the packages of a lock lie in the cache, and every checkout with the same lock, byte
// for byte, gets a link to them. They are copied from the user's own checkout where its lock is the same.
import { createHash } from "node:crypto";
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { holdAlone, isGone, touch, tryHold } from "./checkout-hold.js";
import type { Waiting } from "./checkout-hold.js";

const LOCK = "package-lock.json";
const INSTALLED = join("node_modules", ".package-lock.json"); // npm's own note of what it installed
const FILES = ["package.json", LOCK, ".npmrc"]; // what `npm ci` reads
// Scripts of the package itself that `npm ci` runs: they may write anywhere in the checkout.
const HOOKS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];
const UNUSED_MS = 3_600_000; // packages that no checkout links to stay for so long

type Bag = Readonly<Record<string, unknown>>;

/** How packages get into a checkout. @internal */
export interface ModulesPlace extends Waiting {
  readonly store: string; // folder of the cache that holds packages
  readonly donor: string | null; // a checkout whose packages may be copied
  readonly install: (folder: string) => Promise<void>; // runs `npm ci` there
}

/** Gives a fresh checkout its `node_modules`. Throws what `install` throws. @internal */
export async function giveModules(checkout: string, place: ModulesPlace): Promise<void> {
  const key = shareKey(checkout);
  if (key === null) {
    await place.install(checkout);
    return;
  }
  const home = join(place.store, key);
  const modules = join(home, "node_modules");
  if (!existsSync(modules)) {
    const hold = await holdAlone(`${home}.lock`, place);
    try {
      if (!existsSync(modules)) await fill(home, checkout, place);
    } finally {
      hold.release();
    }
  }
  touch(home);
  symlinkSync(modules, join(checkout, "node_modules"), "junction");
}

/** Drops packages that no checkout links to, and what dead processes left half made. @internal */
export function dropUnusedModules(store: string, checkouts: readonly string[]): void {
  if (!existsSync(store)) return;
  const used = new Set<string>();
  for (const checkout of checkouts) {
    try {
      used.add(basename(dirname(readlinkSync(join(checkout, "node_modules")))));
    } catch {
      // a folder of its own
    }
  }
  for (const name of readdirSync(store)) {
    const path = join(store, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (name.endsWith(".lock")) {
      if (isGone(path)) rmSync(path, { force: true });
    } else if (name.startsWith(".")) {
      if (isGone(join(path, "holder")) || age > UNUSED_MS) rmSync(path, REMOVE);
    } else if (!used.has(name) && age > UNUSED_MS) rmSync(path, REMOVE);
  }
}

const REMOVE = { recursive: true, force: true };

/** Names the packages that the lock file asks for; null where they cannot lie outside the checkout. */
function shareKey(checkout: string): string | null {
  const lock = read(checkout, LOCK);
  if (lock === null || existsSync(join(checkout, "node_modules"))) return null;
  const scripts = bagOf(parsed(read(checkout, "package.json"))["scripts"]);
  if (HOOKS.some((hook) => hook in scripts)) return null;
  const packages = bagOf(parsed(lock)["packages"]);
  const isLocal = (path: string): boolean => path !== "" && !path.startsWith("node_modules/");
  const isShared = Object.entries(packages).every(
    ([path, entry]) => bagOf(entry)["link"] !== true && !isLocal(path),
  );
  if (!isShared) return null;
  const hash = createHash("sha256").update(lock).update("\0");
  return hash
    .update(read(checkout, ".npmrc") ?? "")
    .digest("hex")
    .slice(0, 32);
}

async function fill(home: string, checkout: string, place: ModulesPlace): Promise<void> {
  const { store, donor, install, signal } = place;
  mkdirSync(store, { recursive: true });
  const made = mkdtempSync(join(store, ".making-"));
  const hold = tryHold(join(made, "holder"));
  try {
    for (const file of FILES) {
      const from = join(checkout, file);
      if (existsSync(from)) cpSync(from, join(made, file));
    }
    if (donor !== null && hasSamePackages(donor, checkout)) await copy(donor, made, signal);
    else await install(made);
    mkdirSync(join(made, "node_modules"), { recursive: true }); // a lock may ask for nothing
    hold?.release();
    renameSync(made, home);
  } finally {
    hold?.release();
    rmSync(made, REMOVE);
  }
}

// Copied, not linked: what the user does with the checkout later must not reach into the cache. Where the file system
// can, the copies share their blocks.
async function copy(donor: string, made: string, signal: AbortSignal | undefined): Promise<void> {
  const from = realpathSync(join(donor, "node_modules"));
  await cp(from, join(made, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => {
      signal?.throwIfAborted();
      return path !== join(from, ".cache");
    },
  });
}

/** Whether the donor has the same lock and has really installed what it says. */
function hasSamePackages(donor: string, checkout: string): boolean {
  const lock = read(donor, LOCK);
  if (lock === null || lock !== read(checkout, LOCK)) return false;
  if (read(donor, ".npmrc") !== read(checkout, ".npmrc")) return false;
  const note = read(donor, INSTALLED);
  if (note === null) return false; // not installed, or not by npm
  const installed = bagOf(parsed(note)["packages"]);
  const wanted = Object.entries(bagOf(parsed(lock)["packages"])).filter(([path]) => path !== "");
  return wanted.every(([path, entry]) => {
    const { version, optional } = bagOf(entry);
    const found = installed[path];
    if (found === undefined) return optional === true;
    return bagOf(found)["version"] === version && existsSync(join(donor, path));
  });
}

function read(folder: string, file: string): string | null {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch {
    return null;
  }
}

function parsed(text: string | null): Bag {
  if (text === null) return {};
  try {
    return bagOf(JSON.parse(text));
  } catch {
    return {}; // npm says what is wrong with it
  }
}

function bagOf(value: unknown): Bag {
  return typeof value === "object" && value !== null ? (value as Bag) : {};
}
