// What the harness reads out of a state: what a refusal must leave alone, and what must be gone once nothing is open.
import type { BandState, State } from "../../base/state.js";

/** A state without the count of operations, the remark that was made once, and the stages' fold of questions. @internal */
export function contentOf(state: State): unknown {
  const more = state.forwards["x_more"] as Record<string, unknown>; // as it was written
  const { clock: _clock, told_estimates: _told, stages, ...rest } = more;
  return {
    ...state,
    forwards: { ...state.forwards, x_more: { ...rest, stages: stages !== null } },
  };
}

/** What a state still holds though nothing is open or in flight, null for nothing. @internal */
export function leftBehind(
  state: State,
  bands: readonly string[],
): { readonly component: string; readonly message: string } | null {
  const [record] = state.ledger;
  if (record !== undefined) {
    const message = `nothing is open, and the ledger holds ${record.use} of ${record.signal} in ${record.band}`;
    return { component: "ledger", message };
  }
  const [fence] = state.chain.fences;
  if (fence !== undefined) {
    const message = `nothing is open, and bytes ${fence.bytes.join(" to ")} are fenced by ${fence.signals.join(", ")}`;
    return { component: "chain", message };
  }
  for (const name of bands) {
    const { pending, vacated, fixed } = state[name] as BandState;
    for (const [what, list] of Object.entries({ pending, vacated, fixed }))
      if (list.length > 0)
        return { component: name, message: `nothing is open, and pages of ${name} are ${what}` };
  }
  return null;
}
