// `ref:GIT-REF`: a commit of the repository around the current folder, built in the cache, started as a process that
// serves the protocol.
import { join } from "node:path";
import process from "node:process";
import { CandidateError } from "../base/errors.js";
import type { Adapter } from "./adapter.js";
import { builtCheckout } from "./checkout-build.js";
import type { BuildOptions } from "./checkout-build.js";
import { findCommit, openRepository, unknownRef } from "./checkout-git.js";
import { openProcessAdapter, type ProcessAdapterOptions } from "./process-adapter.js";

/** @public */
export interface RefAdapterOptions extends ProcessAdapterOptions {
  readonly build?: BuildOptions;
}

/**
 * Builds the commit that `ref` names, unless the cache has it, and starts it. Throws `CandidateError` where there is no
 * repository or no such commit, or when it cannot be built or started; `EnvironmentError` without git. @public
 */
export async function openRefAdapter(
  ref: string,
  options: RefAdapterOptions = {},
): Promise<Adapter> {
  const { build = {}, ...rest } = options;
  const { environment, signal } = build;
  const repository = await openRepository(rest.cwd ?? process.cwd(), environment, signal);
  const commit = await findCommit(repository, ref, signal);
  if (commit === null) {
    throw new CandidateError("candidate_start", `ref ${await unknownRef(repository, ref, signal)}`);
  }
  const short = commit.slice(0, 12);
  const label = commit === ref ? `commit ${short}` : `ref ${ref} (${short})`;
  const checkout = await builtCheckout(repository, commit, label, build);
  const words = [process.execPath, join(checkout, "bin", "unified-trace.js"), "serve"];
  return openProcessAdapter(words, { ...rest, commit }, label);
}
