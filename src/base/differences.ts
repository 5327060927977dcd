// Whether two answers are the same, without writing them out.

/**
 * Where two JSON values first differ: a path such as `ok.pages`, "" for the values themselves, null where they are the
 * same. Order of keys does not count. @internal
 */
export function differenceOf(left: unknown, right: unknown): string | null {
  if (left === right) return null;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return "";
  if (Array.isArray(left) !== Array.isArray(right)) return "";
  const [own, other] = [left as Record<string, unknown>, right as Record<string, unknown>];
  const keys = Object.keys(own);
  for (const key of keys) {
    const inside = differenceOf(own[key], other[key]);
    if (inside !== null) return inside === "" ? key : `${key}.${inside}`;
  }
  const more = Object.keys(other);
  return more.length === keys.length ? null : (more.find((key) => !(key in own)) ?? "");
}
