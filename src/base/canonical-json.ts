// Canonical JSON for configuration hashes: keys sorted by code unit, no spaces. Trace lines are written in the order
// of the operation table instead, which the writer keeps.

/** JSON with sorted keys; `undefined` members are left out. @public */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const record = value as Readonly<Record<string, unknown>>;
    const parts: string[] = [];
    for (const key of Object.keys(record).sort(byCodeUnit)) {
      if (record[key] !== undefined)
        parts.push(`${JSON.stringify(key)}:${canonicalJson(record[key])}`);
    }
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Total order of strings by code unit, the same on every machine. @public */
export function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
