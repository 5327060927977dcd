// Starts the built command line as its users do, and gives back what came out.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));
export const bin: string = join(root, "bin", "unified-trace.js");

if (!existsSync(join(root, "dist", "cli", "main.js"))) {
  throw new Error("dist is missing: these tests start the built command line; run npm run build");
}

export const folder: string = mkdtempSync(join(tmpdir(), "unified-trace-cli-"));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string; // default: the tests' folder
  readonly isStdinOpen?: boolean; // nothing comes on it, and no end either
  /** Called once the process is started; may send a signal. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => Promise<void>;
  readonly signalAfterMs?: readonly [NodeJS.Signals, number];
  /** Sent once the command has written something into a file of its own in the tests' folder. */
  readonly signalOnceWritten?: NodeJS.Signals;
}

/** Runs `unified-trace WORDS` in the tests' folder. */
export function start(words: readonly string[], options: StartOptions = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [bin, ...words], {
    cwd: options.cwd ?? folder,
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...options.env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  if (options.isStdinOpen !== true) child.stdin.end(options.stdin ?? "");
  void options.onStart?.((signal) => child.kill(signal));
  if (options.signalAfterMs !== undefined) {
    const [signal, ms] = options.signalAfterMs;
    setTimeout(() => child.kill(signal), ms);
  }
  const { signalOnceWritten } = options;
  if (signalOnceWritten !== undefined) {
    const before = new Set(readdirSync(folder));
    const timer = setInterval(() => {
      if (!readdirSync(folder).some((name) => !before.has(name) && hasContent(name))) return;
      clearInterval(timer);
      child.kill(signalOnceWritten);
    }, 20);
    child.on("close", () => {
      clearInterval(timer);
    });
  }
  return new Promise((resolve) => {
    child.on("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

/** Whether a file of the folder holds anything; one that is gone by now does not. */
function hasContent(name: string): boolean {
  return (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Runs a line in a POSIX shell, with `ut` as the command line. */
export function shell(line: string): Promise<Outcome> {
  const script = `ut() { "${process.execPath}" "${bin}" "$@"; }\n${line}`;
  const child = spawn("bash", ["-c", script], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

let files = 0;

/** Writes a file of the tests' folder; gives its name. */
export function file(name: string, content: string | Uint8Array): string {
  files += 1;
  const unique = `${files}-${name}`;
  writeFileSync(join(folder, unique), content);
  return unique;
}

/** The lines of a trace in the tests' folder, packed or not. */
export function linesOf(name: string): ReturnType<typeof JSON.parse>[] {
  const bytes = readFileSync(join(folder, name));
  const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** What every failure must be: one line, no stack, nothing on standard output. */
export function isOneLine(text: string): boolean {
  return /^unified-trace: [^\n]+\n$/.test(text) && !/\n\s+at /.test(text);
}

/** `module:` of this checkout's allocator that throws at operation `n` of a run. */
export function breakingModule(n: number): string {
  const own = pathToFileURL(join(root, "dist", "index.js")).href;
  const path = file(
    "breaks.mjs",
    `import { KV_OPERATIONS, KVStorage } from ${JSON.stringify(own)};
     export const info = { name: "breaks", version: "1", ops: KV_OPERATIONS, digest: null, fx: true };
     export function createImplementation(config) {
       const storage = new KVStorage(config, { digestDepth: null });
       let n = 0;
       return {
         apply(operation) {
           if (n++ === ${n}) throw new Error("no");
           return storage.apply(operation);
         },
       };
     }`,
  );
  return `module:${path}`;
}

/** A PATH on which `git` is this script. */
export function gitThat(name: string, script: string): Readonly<Record<string, string>> {
  const home = join(folder, `git-${name}`);
  mkdirSync(home);
  writeFileSync(join(home, "git"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(home, "git"), 0o755);
  return { PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}` };
}
