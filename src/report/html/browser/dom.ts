// Small helpers for elements. Texts always go in as text, never as markup.

type Child = Node | string | null;

/** An element with a class and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** The element of the page with an id and a kind; throws where the page lacks it. */
export function part<T extends HTMLElement>(id: string, kind: abstract new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** A button that does something. */
export function button(text: string, title: string, act: () => void): HTMLButtonElement {
  const made = make("button", "", text);
  made.type = "button";
  made.title = title;
  made.addEventListener("click", act);
  return made;
}
