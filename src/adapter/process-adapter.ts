// `cmd:"…"`: any program that speaks the protocol on its standard input and output.
import type { Adapter } from "./adapter.js";
import { splitCommandWords } from "./command-words.js";
import { ProcessTransport } from "./process-transport.js";
import { ProtocolAdapter, type ProtocolAdapterOptions } from "./protocol-adapter.js";

/** @public */
export interface ProcessAdapterOptions extends ProtocolAdapterOptions {
  /** Folder that the program starts in; default the current one. */
  readonly cwd?: string;
}

/**
 * Starts a program, given as a command line (split without a shell) or as words. Throws `UsageError` for a command line
 * that cannot be split and `CandidateError` when it does not start or does not shake hands. @public
 */
export function openProcessAdapter(
  command: string | readonly string[],
  options: ProcessAdapterOptions = {},
  label: string = typeof command === "string"
    ? `cmd ${JSON.stringify(command)}`
    : command.join(" "),
): Promise<Adapter> {
  const words = typeof command === "string" ? splitCommandWords(command) : command;
  return ProtocolAdapter.start(() => new ProcessTransport(words, options.cwd), label, options);
}
