// An answer with another number than the one that is due: skipped, given twice, out of order, or wrongly numbered.
// The answer behind it tells which.
import { parseReply } from "../../adapter/protocol.js";
import { type Asked, lineOf, shown } from "./asked.js";
import type { Dialog } from "./dialog.js";
import { Fault } from "./fault.js";

/** Names what is wrong with an answer numbered `got`. `came`: its line. @internal */
export async function orderFault(
  dialog: Dialog,
  got: number,
  came: string,
  asked: Asked,
  waitMs: number,
): Promise<Fault> {
  const due = asked.first + asked.answered;
  const dueLine = lineOf(asked, due);
  const wrongNumber = `gives the answer to operation ${due} the wrong n ${got}`;
  if (got >= asked.first + asked.sent) return new Fault(wrongNumber, [dueLine], [came]);
  const event = await dialog.next(waitMs);
  const behind = event.kind === "line" ? parseReply(event.line) : null;
  const both = event.kind === "line" ? [came, shown(event)] : [came];
  if (got < due) {
    if (behind?.kind !== "answer") return new Fault(wrongNumber, [dueLine], both);
    const sent = [lineOf(asked, got), dueLine].filter((line) => line !== "");
    return new Fault(`answers operation ${got} twice`, sent, both);
  }
  const sent = [dueLine, lineOf(asked, got)];
  if (behind?.kind === "answer" && behind.n === due)
    return new Fault(`answers out of order: operation ${got} before operation ${due}`, sent, both);
  if (behind?.kind === "answer" && behind.n === got) return new Fault(wrongNumber, sent, both);
  return new Fault(`skips the answer to operation ${due}`, sent, [came]);
}
