// Lists are joined one by one: a list spread over the arguments of a call overflows the stack at some 100,000 elements.

/** Appends `items` to `list`, in order, however many they are. @internal */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
