/** Whether an object has any key, found without making a list of them. @internal */
export function hasKeys(value: object): boolean {
  for (const _key in value) return true;
  return false;
}
