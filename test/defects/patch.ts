// Putting functions in the place of others and back.

/** Puts another function in the place of a method; returns the undo. `target` is a prototype or an object. */
export function patchMethod<T extends object, K extends keyof T>(
  target: T,
  name: K,
  make: (original: T[K]) => T[K],
): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  if (before === undefined) {
    // Inherited: an own method hides it until the undo.
    Object.defineProperty(target, name, { ...METHOD, value: make(target[name]) });
    return () => void Reflect.deleteProperty(target, name);
  }
  // A method's value has the type of the property.
  Object.defineProperty(target, name, { ...before, value: make(before.value as T[K]) });
  return () => void Object.defineProperty(target, name, before);
}

/** Puts another function in the place of a getter; returns the undo. */
export function patchGetter<T extends object, K extends keyof T>(
  target: T,
  name: K,
  make: (original: (this: T) => T[K]) => (this: T) => T[K],
): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  if (before?.get === undefined) throw new Error(`no getter ${String(name)}`);
  // The getter's own type is that of its property.
  Object.defineProperty(target, name, { ...before, get: make(before.get as (this: T) => T[K]) });
  return () => void Object.defineProperty(target, name, before);
}

/** Takes several patches out, the last one first. */
export function undoAll(...undos: readonly (() => void)[]): () => void {
  return () => {
    for (const undo of [...undos].reverse()) undo();
  };
}

const METHOD = { configurable: true, enumerable: false, writable: true } as const;
