// `doctor`: what this machine has and lacks, and what to do about it.
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import zlib from "node:zlib";
import type { Command } from "commander";
import { cachePlaces } from "../../adapter/checkout-cache.js";
import { EXIT } from "../../base/exit-codes.js";
import { UnifiedTraceError } from "../../base/errors.js";
import { nativeReport } from "../../device/native-loader.js";
import { openBackend } from "../../device/open-device.js";
import { selfTest } from "../../device/self-test/self-test.js";
import { doctorJson, doctorText, selfTestJson, selfTestText } from "../../report/doctor.js";
import type { Finding } from "../../report/doctor.js";
import { cacheFolder } from "../building.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { oneOf } from "../flags.js";
import { packageVersion } from "../place.js";
import { readRevision } from "../revision.js";
import type { Session } from "../session.js";

const TIMEOUT_MS = 10_000;
const OLDEST_NODE: readonly number[] = [20, 19];

const HELP = `
Nothing here is needed to record, replay and compare on the simulated device; what is optional
says so. The command fails (exit 4) only when Node itself is too old.

--self-test runs the contract suite of a device: zeros, moves, stamps and hashes, host copies, what
waits for what, translation, refusals, memory, and scripts drawn at random. It needs no development
packages. Exit 0: all passed; 1: a promise is broken; 4: the device is not there.

Examples:
  unified-trace doctor
  unified-trace doctor --json
  unified-trace doctor --self-test host
  unified-trace doctor --self-test cuda`;

/** @internal */
export function addDoctor(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Say what this machine has and lacks: Node, native addon, CUDA, compression.")
    .option(
      "--self-test <device>",
      "run the contract suite of a device: model, host or cuda",
      oneOf("--self-test", ["model", "host", "cuda"]),
    )
    .option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (flags: { readonly selfTest?: "model" | "host" | "cuda" }) => {
        if (flags.selfTest !== undefined) return runSelfTest(flags.selfTest, session);
        const findings = await examine();
        if (session.isJson) session.printJson(doctorJson(findings));
        else session.print(doctorText(findings, session.palette));
        return findings.some(({ state }) => state === "wrong") ? EXIT.environment : EXIT.ok;
      }),
    );
}

function runSelfTest(device: "model" | "host" | "cuda", session: Session): number {
  const result = selfTest(openBackend(device), ({ name }) => {
    session.progress.show(name);
  });
  session.progress.clear();
  if (session.isJson) session.printJson(selfTestJson(result));
  else session.print(selfTestText(result, session.palette));
  return result.verdict === "passed" ? EXIT.ok : EXIT.finding;
}

async function examine(): Promise<Finding[]> {
  return [
    await packageFinding(),
    nodeFinding(),
    addonFinding(),
    ...deviceFindings(),
    ...cudaFindings(),
    zstdFinding(),
    ...buildFindings(),
    cacheFinding(),
  ];
}

/** Where `ref:GIT-REF` keeps what it built, and whether it can. */
function cacheFinding(): Finding {
  const what = "cache of builds";
  const folder = cacheFolder(process.env);
  const count = entriesOf(cachePlaces(folder).commits);
  if (isWritable(folder)) {
    const kept = count === 1 ? "1 built commit" : `${count} built commits`;
    return { what, state: "there", text: `${folder}, ${kept}`, advice: null };
  }
  const text = `${folder} cannot be written: ref:GIT-REF cannot be built`;
  const advice = "optional: UNIFIED_TRACE_CACHE names another folder";
  return { what, state: "missing", text, advice };
}

function entriesOf(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0; // nothing was built yet
  }
}

/** Whether the folder, or the nearest one above it that is there, can be written. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isAbsent && dirname(folder) !== folder && isWritable(dirname(folder));
  }
}

async function packageFinding(): Promise<Finding> {
  const { revision, dirty } = await readRevision();
  const commit = revision ?? "revision unknown (no git checkout, or git is missing)";
  const text = `unified-trace ${packageVersion()}, ${commit}${dirty === true ? ", with local changes" : ""}`;
  return { what: "package", state: "there", text, advice: null };
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldest = 0, oldestMinor = 0] = OLDEST_NODE;
  const isEnough = major > oldest || (major === oldest && minor >= oldestMinor);
  const text = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  const advice = isEnough ? null : `install Node ${OLDEST_NODE.join(".")} or newer`;
  return { what: "node", state: isEnough ? "there" : "wrong", text, advice };
}

function addonFinding(): Finding {
  const { available, reason, path } = nativeReport();
  if (available) {
    return { what: "native addon", state: "there", text: path ?? "loaded", advice: null };
  }
  const text = reason ?? "not available";
  const advice = "optional: install CMake and a C++20 compiler, then npm run build:native";
  return { what: "native addon", state: "missing", text, advice };
}

const DEVICE_ADVICE = {
  host: "optional: npm run build:native; until then the simulated device is used",
  cuda: "optional: a CUDA device and its driver, and npm run build:native where nvcc is on PATH; until then the simulated device is used",
} as const;

/** What the devices with bytes say of themselves. */
function deviceFindings(): Finding[] {
  return (["host", "cuda"] as const).map((kind): Finding => {
    const what = `device ${kind}`;
    try {
      const { name, memoryFreeBytes } = openBackend(kind).capabilities(0);
      const free = `${(memoryFreeBytes / 2 ** 30).toFixed(1)} GiB free`;
      return { what, state: "there", text: `${name}, ${free}`, advice: null };
    } catch (error) {
      if (!(error instanceof UnifiedTraceError)) throw error;
      // the hint to this very command says nothing here
      const text = error.message.replace(/ \(unified-trace doctor says more\)$/, "");
      return { what, state: "missing", text, advice: DEVICE_ADVICE[kind] };
    }
  });
}

function cudaFindings(): Finding[] {
  const device = probe("nvidia-smi", ["--query-gpu=name,driver_version", "--format=csv,noheader"]);
  const compiler = probe("nvcc", ["--version"]);
  const names = device?.split("\n").join("; ");
  return [
    {
      what: "CUDA device",
      state: names === undefined ? "missing" : "there",
      text:
        names ?? "nvidia-smi is not found or finds no device: the simulated device is used instead",
      advice: names === undefined ? "optional: a CUDA device and NVIDIA's driver for it" : null,
    },
    {
      what: "CUDA compiler",
      state: compiler === undefined ? "missing" : "there",
      text:
        compiler?.split("\n").at(-1) ??
        "nvcc is not on PATH: the CUDA backend cannot be built here",
      advice:
        compiler === undefined
          ? "optional: the CUDA toolkit (nvcc on PATH), then npm run build:native"
          : null,
    },
  ];
}

function zstdFinding(): Finding {
  const hasZstd = "createZstdDecompress" in zlib;
  return {
    what: "zstd",
    state: hasZstd ? "there" : "missing",
    text: hasZstd
      ? "traces may be .jsonl.zst"
      : "this Node has no zstd: traces may be .jsonl or .jsonl.gz",
    advice: hasZstd ? null : "optional: Node 22.15 or newer",
  };
}

function buildFindings(): Finding[] {
  const programs: readonly [name: string, use: string, packages: string][] = [
    ["git", "names revisions, and ref: and bisect need it", "git"],
    ["cmake", "builds the native addon", "cmake"],
    ["c++", "builds the native addon", "g++"],
  ];
  return programs.map(([name, use, packages]) => {
    const version = probe(name, ["--version"])?.split("\n")[0];
    return {
      what: name,
      state: version === undefined ? "missing" : "there",
      text: version ?? `not found; it ${use}`,
      advice:
        version === undefined
          ? `optional: install ${name}, on Debian and Ubuntu apt-get install ${packages}`
          : null,
    };
  });
}

function probe(program: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, words, {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
  const text = status === 0 ? stdout.trim() : "";
  return text === "" ? undefined : text;
}
