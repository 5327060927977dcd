// Umpire's replay logs, both forms: one event a line (`category`, `name`, …; from 2022.3.1 on), and the older one with an
// intent line before the work and a line with the result behind it.
import { InputError } from "../base/errors.js";
import type { TraceLine } from "../trace/lines.js";
import type { ImportFormat, LogPlace, LogTranslator, TranslatorOptions } from "./import-format.js";
import { logObject, own } from "./import-fields.js";
import type { LogObject } from "./import-fields.js";
import type { ImportCounts } from "./import-tally.js";
import { translateEvent } from "./import-umpire-events.js";
import { translateIntent } from "./import-umpire-intents.js";
import { UmpireRun } from "./import-umpire-run.js";

/** @internal */
export const UMPIRE: ImportFormat = {
  name: "umpire",
  about: "replay logs of LLNL Umpire: one event a line, or the older form of intents and results",
  recognises: (firstLine) => formOf(firstLine) !== null,
  isComment: (text) => text.startsWith("#") || text.trim() === "",
  open: (options) => new UmpireTranslator(options),
};

type Form = "events" | "intents";

function formOf(line: string): Form | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return typeof value === "object" && value !== null ? formOfEvent(value as LogObject) : null;
}

function formOfEvent(event: LogObject): Form | null {
  const has = (key: string): boolean => typeof own(event, key) === "string";
  if (has("category") && has("name")) return "events";
  return own(event, "kind") === "replay" && has("event") ? "intents" : null;
}

class UmpireTranslator implements LogTranslator {
  readonly #run: UmpireRun;

  constructor(options: TranslatorOptions) {
    this.#run = new UmpireRun(options);
  }

  get ready(): TraceLine[] {
    return this.#run.heap.ready;
  }

  take(text: string, place: LogPlace): void {
    const event = logObject(text, place);
    const form = formOfEvent(event);
    if (form === null) {
      const expected = 'an event with "category" and "name", or of kind "replay" with "event"';
      throw new InputError("input_format", `is no event of an Umpire log: expected ${expected}`, {
        ...place,
        expected,
      });
    }
    const at = this.#run.nextEvent(form, text);
    if (form === "events") translateEvent(event, at, this.#run, place);
    else translateIntent(event, at, this.#run, place);
  }

  finish(file: string): void {
    this.#run.finish(file);
  }

  counts(): ImportCounts {
    return this.#run.heap.tally.counts(this.#run.heap.live);
  }
}
