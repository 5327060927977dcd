// Of two floats the one that has to give way moves last.
import type { Effect } from "../../src/base/effects.js";
import { FloatBand } from "../../src/kv/alloc/float-band.js";
import { changeEffects } from "./effects.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "floats-moved-in-wrong-order",
  about:
    "floats are relocated in the reverse order, the first into bytes that the second still holds",
  row: 23,
  where: "kv",
  plant: () => {
    const floats = new Set<string>();
    const isOfFloat = (effect: Effect): boolean => effect[0] === "move" && floats.has(effect[1]);
    return undoAll(
      patchMethod(
        FloatBand.prototype,
        "moveSpan",
        (original) =>
          function (this: FloatBand, low: number, end: number): void {
            floats.add(this.plan.name);
            original.call(this, low, end);
          },
      ),
      changeEffects((effects) => {
        const moves = effects.filter(isOfFloat);
        const first = moves[0]?.[1];
        const turned = [
          ...moves.filter(([, band]) => band !== first),
          ...moves.filter(([, band]) => band === first),
        ];
        return effects.map((effect) => (isOfFloat(effect) ? turned.shift()! : effect)); // as many
      }),
    );
  },
};
