// Lines of a run that are written while another one is recorded, kept in a file of their own until their turn comes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTraceWriter } from "./writer.js";
import type { TraceWriter } from "./writer.js";

/** @internal */
export class Spool {
  readonly writer: TraceWriter;
  readonly #folder: string;
  readonly #file: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "unified-trace-"));
    this.#file = join(this.#folder, "run.jsonl");
    this.writer = createTraceWriter(this.#file);
  }

  /** Puts its lines behind those of another writer; nothing may be written to it any more. */
  appendTo(writer: TraceWriter): void {
    this.writer.commit();
    writer.append(this.#file);
  }

  dispose(): void {
    this.writer.abort();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
