// From the words after `--impl` and `--candidate` to something that can be started.
import type { Command } from "commander";
import type { Adapter, Commit } from "../adapter/adapter.js";
import { openAdapter, parseAdapterSpec } from "../adapter/open-adapter.js";
import type { OpenAdapterOptions } from "../adapter/open-adapter.js";
import type { VerifyPolicy } from "../device/device.js";
import type { StartAdapter } from "../tools/candidate.js";
import type { ImplementationData } from "../tools/parallel/part.js";
import { addBuildFlag, buildOptions } from "./building.js";
import type { BuildFlags } from "./building.js";
import { oneOf, seconds } from "./flags.js";
import { readRevision } from "./revision.js";
import type { Session } from "./session.js";

/** Flags that say how an implementation is driven. @internal */
export interface ImplementationFlags extends BuildFlags {
  readonly timeout?: number; // seconds
  readonly verify?: VerifyPolicy;
}

export const IMPLEMENTATION_FORMS =
  "self, self:DEVICE (model, host, cuda, none), reference, heap:POLICY, checkout:PATH, ref:GIT-REF, module:FILE or cmd:COMMAND";

/** Adds `--timeout`, `--verify` and `--build`. @internal */
export function addImplementationFlags(command: Command, verify: VerifyPolicy): Command {
  return addBuildFlag(command)
    .option(
      "--verify <when>",
      "what the device of self checks: touched (pages after each operation that touched them, all every 64) or every (all, always)",
      oneOf("--verify", ["touched", "every"]),
      verify,
    )
    .option(
      "--timeout <seconds>",
      "longest wait for an answer of another process before it counts as a hang (default: 5)",
      seconds("--timeout"),
    );
}

/**
 * How the implementation is started; a wrong name is refused at once. `tellsLog`: whether the end of a failed build's log
 * is shown. @internal
 */
export function starterOf(
  spec: string,
  flags: ImplementationFlags,
  session: Session,
  tellsLog = true,
): StartAdapter {
  parseAdapterSpec(spec);
  return async () =>
    openAdapter(spec, { ...(await readRevision()), ...openOptions(flags, session, tellsLog) });
}

/** For a comparison, which begins while git still looks for the commit that the report names. @internal */
export function comparedImplementation(
  spec: string,
  flags: ImplementationFlags,
  session: Session,
): { readonly start: StartAdapter; readonly commit?: Promise<Commit> } {
  parseAdapterSpec(spec);
  const start = (): Promise<Adapter> => openAdapter(spec, openOptions(flags, session, true));
  return isForeign(spec) ? { start } : { start, commit: readRevision() };
}

function openOptions(
  flags: ImplementationFlags,
  session: Session,
  tellsLog: boolean,
): OpenAdapterOptions {
  return {
    build: buildOptions(flags, session, tellsLog),
    ...(flags.verify === undefined ? {} : { verify: flags.verify }),
    ...(flags.timeout === undefined ? {} : { timeoutSeconds: flags.timeout }),
  };
}

/** The same as data, for another thread; nothing is told of builds there. @internal */
export async function implementationData(
  spec: string,
  flags: ImplementationFlags,
  session: Session,
): Promise<ImplementationData> {
  parseAdapterSpec(spec);
  const { revision, dirty } = await readRevision();
  const { cache, environment, commands } = buildOptions(flags, session, false);
  return {
    spec,
    options: {
      revision,
      dirty,
      build: {
        ...(cache === undefined ? {} : { cache }),
        ...(environment && { environment }),
        ...(commands && { commands }),
      },
      ...(flags.verify === undefined ? {} : { verify: flags.verify }),
      ...(flags.timeout === undefined ? {} : { timeoutSeconds: flags.timeout }),
    },
  };
}

/** Whether calls leave this process, so that what was asked is written down before the call. @internal */
export function isForeign(spec: string): boolean {
  return !["self", "reference", "heap"].includes(parseAdapterSpec(spec).kind);
}
