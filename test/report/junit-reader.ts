// A strict reader of the XML that reports use, and the elements of JUnit that are documented, as a table.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  readonly text: string;
}

interface Rule {
  readonly attributes: Readonly<Record<string, string>>;
  readonly children?: readonly string[];
  readonly text?: boolean;
}

const path = fileURLToPath(new URL("../fixtures/junit-elements.json", import.meta.url));
const rules = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, Rule>>;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

// Char of XML 1.0
function isCharacter(code: number): boolean {
  if (code === 0x9 || code === 0xa || code === 0xd) return true;
  if (code < 0x20 || code > 0x10ffff) return false;
  return !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
}

/** The root element. Throws where the text is no XML 1.0. */
export function readXml(text: string): Element {
  for (const character of text) {
    if (!isCharacter(character.codePointAt(0)!)) throw new Error("a character that XML forbids");
  }
  return new XmlReader(text).document();
}

class XmlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Element {
    this.#match(/<\?xml version="1\.0" encoding="UTF-8"\?>\n/y);
    const root = this.#element();
    this.#match(/\n?$/y);
    return root;
  }

  #element(): Element {
    const name = this.#match(/<([A-Za-z-]+)/y)[1]!;
    const attributes = new Map<string, string>();
    for (;;) {
      const found = this.#find(/\s+([A-Za-z-]+)="([^"<]*)"/y);
      if (found === null) break;
      const [, key, value] = found;
      if (attributes.has(key!)) throw new Error(`${key} twice`);
      // a parser makes spaces of the line ends and tabs that stand there as they are
      attributes.set(key!, unescaped(value!.replace(/[\t\n\r]/g, " ")));
    }
    if (this.#find(/\s*\/>/y) !== null) return { name, attributes, children: [], text: "" };
    this.#match(/\s*>/y);
    const children: Element[] = [];
    let raw = "";
    while (this.#find(/<\/([A-Za-z-]+)>/y, name) === null) {
      if (this.#text[this.#at] === "<") children.push(this.#element());
      else raw += this.#match(/[^<]+/y)[0];
    }
    if (raw.includes("]]>")) throw new Error("]]> in text");
    return { name, attributes, children, text: unescaped(raw.replace(/\r\n?/g, "\n")) };
  }

  #find(pattern: RegExp, name?: string): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    if (name !== undefined && found[1] !== name) throw new Error(`${found[1]} closes ${name}`);
    this.#at += found[0].length;
    return found;
  }

  #match(pattern: RegExp): RegExpExecArray {
    const found = this.#find(pattern);
    if (found === null) {
      throw new Error(
        `expected ${pattern.source} at: ${this.#text.slice(this.#at, this.#at + 60)}`,
      );
    }
    return found;
  }
}

function unescaped(raw: string): string {
  return raw.replace(/&([^;&]*;?)/g, (whole, body: string) => {
    const number = /^#(\d+);$/.exec(body)?.[1];
    if (number !== undefined && isCharacter(Number(number)))
      return String.fromCodePoint(Number(number));
    const named = NAMED[body.slice(0, -1)];
    if (named === undefined || !body.endsWith(";")) throw new Error(`no reference: ${whole}`);
    return named;
  });
}

/** What is not as the table says, and numbers that do not add up. */
export function junitProblems(root: Element): string[] {
  const problems = root.name === "testsuites" ? [] : [`the root is ${root.name}`];
  const visit = (element: Element): void => {
    problems.push(...elementProblems(element));
    element.children.forEach(visit);
  };
  visit(root);
  return problems;
}

function elementProblems(element: Element): string[] {
  const { name, attributes, children, text } = element;
  const rule = rules[name];
  if (rule === undefined) return [`unknown element ${name}`];
  const problems: string[] = [];
  for (const key of attributes.keys()) {
    if (!(key in rule.attributes)) problems.push(`${name} has ${key}`);
  }
  for (const [key, type] of Object.entries(rule.attributes)) {
    const value = attributes.get(key);
    if (value === undefined && !type.endsWith("?")) problems.push(`${name} lacks ${key}`);
    if (value !== undefined && type.startsWith("count") && !/^\d+$/.test(value)) {
      problems.push(`${name} ${key}="${value}"`);
    }
  }
  if (rule.text !== true && text.trim() !== "") problems.push(`${name} holds text`);
  const order = (rule.children ?? []).map(
    (child) => `(?:<${child.slice(0, -1)}>)${child.slice(-1)}`,
  );
  const given = children.map((child) => `<${child.name}>`).join("");
  if (!new RegExp(`^${order.join("")}$`).test(given)) problems.push(`${name} holds ${given}`);
  if (name === "testsuite" || name === "testsuites") problems.push(...countProblems(element));
  return problems;
}

/** All elements of a name, in document order. */
export function elementsOf(root: Element, name: string): Element[] {
  const below = root.children.flatMap((child) => elementsOf(child, name));
  return root.name === name ? [root, ...below] : below;
}

function countProblems(suite: Element): string[] {
  const names = { tests: "testcase", failures: "failure", errors: "error", skipped: "skipped" };
  return Object.entries(names)
    .filter(([key, name]) => suite.attributes.get(key) !== String(elementsOf(suite, name).length))
    .map(([key]) => `${suite.name}: the number of ${key}`);
}
