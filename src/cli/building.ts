// How `ref:GIT-REF` is built: the flag, the folder of the cache, the environment that git and builds get.
import { Option } from "commander";
import type { Command } from "commander";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import type { BuildOptions } from "../adapter/checkout-build.js";
import type { Environment } from "../adapter/checkout-git.js";
import { splitCommandWords } from "../adapter/command-words.js";
import { visible } from "../report/words.js";
import { mayRepeat } from "./flags.js";
import type { Session } from "./session.js";

/** @internal */
export interface BuildFlags {
  readonly build?: readonly string[];
}

/** Adds `--build`. @internal */
export function addBuildFlag(command: Command): Command {
  return command.addOption(
    mayRepeat(
      new Option(
        "--build <command>",
        "what builds ref:GIT-REF, several times for one after another (default: npm ci, npm run build)",
      ).argParser(collect),
    ),
  );
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  if (text !== "") splitCommandWords(text); // an empty one is refused as for every flag
  return [...before, text];
}

/** What a build needs to know. `session`: shows progress and ends it at an interrupt. @internal */
export function buildOptions(flags: BuildFlags, session: Session, tellsLog: boolean): BuildOptions {
  return {
    cache: cacheFolder(process.env),
    environment: withoutRepository(process.env),
    signal: session.signal,
    onProgress: (text) => {
      session.note(`unified-trace: ${visible(text)}`);
    },
    onFailure: (tail) => {
      if (tail === "" || !tellsLog) return;
      session.note(
        tail
          .split("\n")
          .map((line) => `  | ${visible(line)}`)
          .join("\n"),
      );
    },
    ...(flags.build === undefined ? {} : { commands: flags.build }),
  };
}

/** The folder that keeps built commits. A relative XDG_CACHE_HOME does not count, as its specification says. @internal */
export function cacheFolder(environment: Environment): string {
  const own = environment["UNIFIED_TRACE_CACHE"] ?? "";
  if (own !== "") return resolve(own);
  const shared = environment["XDG_CACHE_HOME"] ?? "";
  return join(isAbsolute(shared) ? shared : join(homedir(), ".cache"), "unified-trace");
}

/**
 * Inside a hook git names the repository at hand in its environment, for every git that is called there. A build asks
 * about another working tree. @internal
 */
export function withoutRepository(environment: Environment): Environment {
  const kept: Record<string, string | undefined> = { ...environment };
  for (const name of LOCAL_NAMES) Reflect.deleteProperty(kept, name);
  return kept;
}

const LOCAL_NAMES = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_COMMON_DIR",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_NAMESPACE",
  "GIT_CONFIG",
];
