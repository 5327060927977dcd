// `check.idle`: whatever is live must have a holder, by identity.
import type { IdleViolation, KvOk } from "../base/operations.js";
import { append, type Lists, appendAll } from "./answers.js";
import { ownerOf, PURPOSES, stateBandOf, windowsOf, type World } from "./world.js";

/** @internal */
export function checkIdle(world: World): KvOk["check.idle"] {
  const held = heldIds(world);
  const violations: IdleViolation[] = [];
  for (const band of world.bands) {
    const holders = held[band.name] ?? [];
    for (const [id, page] of band.bindings.entries()) {
      if (!holders.includes(id)) violations.push({ check: "leak", band: band.name, page });
    }
  }
  return { violations, skipped: world.deferred.length > 0 };
}

// Ids that a request or an open group holds, a band.
function heldIds(world: World): Lists {
  const held: Lists = {};
  for (const { band, id } of [...(world.group ?? []), ...world.deferred]) append(held, band, id);
  const copied = world.copies.flatMap(({ work }) => (work.kind === "load" ? work.load : []));
  for (const { parts } of [...world.loads, ...copied])
    for (const { band, units } of parts)
      appendAll(
        held,
        band,
        units.map(({ id }) => id),
      );
  for (const node of world.tree) {
    appendAll(held, ownerOf(world).name, node.ids ?? []);
    for (const { name } of windowsOf(world)) appendAll(held, name, node.ids ?? []);
    const band = stateBandOf(world);
    if (band !== null && node.state !== null) append(held, band.name, node.state);
  }
  const state = stateBandOf(world);
  for (const request of world.requests.values()) {
    request.virtual.forEach((id, page) => {
      append(held, ownerOf(world).name, id);
      for (const { name } of windowsOf(world))
        if (request.windows[name]?.[page] === true) append(held, name, id);
    });
    for (const purpose of PURPOSES)
      if (state !== null) appendAll(held, state.name, request.slots[purpose]);
  }
  return held;
}
