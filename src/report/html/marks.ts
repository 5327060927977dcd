// The operations of a comparison that its page marks on the curves and jumps to.
import type { RunComparison } from "../../tools/outcome.js";
import { grouped, visible } from "../words.js";
import type { PackedMark } from "./shared/format.js";

const ORIGINS_MAX = 4;

/** The operation that was asked for. @internal */
export function markAt(n: number): PackedMark {
  const title = `Operation ${grouped(n)}`;
  return { n, kind: "origin", title, why: `${title} is where this page begins.` };
}

/** The operation at which a run fails. @internal */
export function markFailure(n: number): PackedMark {
  const title = `Fails here: ${grouped(n)}`;
  return { n, kind: "failure", title, why: `Operation ${grouped(n)} is the one at fault.` };
}

/** The divergence first, then its cause, what gave the differing ids their places, and where the sides agree again.
 * @internal */
export function marksOf(run: RunComparison | null): readonly PackedMark[] {
  const divergence = run?.divergence ?? null;
  if (divergence === null) return [];
  const { n, op, cause } = divergence;
  const marks: PackedMark[] = [
    {
      n,
      kind: "divergence",
      title: `First divergence: ${grouped(n)}`,
      why: `Operation ${grouped(n)} (${visible(op)}) is the first at which the sides differ.`,
    },
  ];
  // a divergence that is its own cause needs no second button
  if (cause !== null && cause.n !== n) {
    marks.push({
      n: cause.n,
      kind: "cause",
      title: `Cause: ${grouped(cause.n)}`,
      why: `Since operation ${grouped(cause.n)} (${visible(cause.op)}) the states of the sides differ.`,
    });
  }
  const { origins = [], recovers = null } = run?.examination ?? {};
  const seen = new Set<number>([n, cause?.n ?? n]);
  for (const { space, id, n: at, op: by, use } of origins) {
    if (seen.has(at) || seen.size > ORIGINS_MAX) continue;
    seen.add(at);
    marks.push({
      n: at,
      kind: "origin",
      title: `Origin: ${grouped(at)}`,
      why: `${visible(space)} ${id} was ${use} by operation ${grouped(at)} (${visible(by)}).`,
    });
  }
  if (recovers !== null) {
    marks.push({
      n: recovers,
      kind: "recovers",
      title: `Agree again: ${grouped(recovers)}`,
      why: `From operation ${grouped(recovers)} on both sides answer alike again.`,
    });
  }
  const again = run?.alignment?.recovers?.base ?? null;
  if (recovers === null && again !== null) {
    marks.push({
      n: again,
      kind: "recovers",
      title: `Asked the same again: ${grouped(again)}`,
      why: `From operation ${grouped(again)} on both sides are asked the same again.`,
    });
  }
  return marks;
}
