// `show FILE --html PAGE`: the page of one run, with one side.
import { EXIT } from "../base/exit-codes.js";
import { counted, grouped, visible } from "../report/words.js";
import { checkHtml, giveHtml } from "./html-page.js";
import { starterOf } from "./implementation.js";
import { readerOptions } from "./reading.js";
import type { Session } from "./session.js";
import type { ShowFlags } from "./show-flags.js";

/** Writes the page; with `--op` it begins there. An implementation that does not answer as recorded is a finding: its maps
 * end there. @internal */
export async function showHtml(
  trace: string,
  flags: ShowFlags & { readonly html: string },
  session: Session,
): Promise<number> {
  const { html, run, op, impl } = flags;
  checkHtml(html, trace);
  const options = {
    trace,
    run: run ?? null,
    base: { spec: impl, start: starterOf(impl, flags, session) },
    candidate: null,
    divergence: null,
    focus: op === undefined ? [] : [op],
    reader: readerOptions(flags, session),
  };
  const report = {
    command: "show",
    comparison: null,
    mode: "exact" as const,
    text: "",
    reproduce: null,
    notes: [],
    ...(op === undefined ? {} : { at: op }),
  };
  const { code, data } = await giveHtml(html, options, report, session);
  if (data === null) return code;
  const { note, knownTo } = data.base;
  const shown = `shown: ${counted(data.operations, "operation")} of run ${visible(data.run)}`;
  if (note === null) {
    session.print(session.palette.good(shown));
    return code;
  }
  const end = knownTo === null ? "no page maps" : `page maps up to operation ${grouped(knownTo)}`;
  session.print(session.palette.bad(`${shown}; ${end}: ${visible(note)}`));
  return EXIT.finding;
}
