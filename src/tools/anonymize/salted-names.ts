// Other words for names: the same word for the same name and salt, and no way back without the salt.
import { createHmac } from "node:crypto";

const HEX = 16; // 64 bits: a million names meet with a chance of 1 in 30 million, and then the replay tells
const KEPT = 65_536; // words remembered, so that memory does not grow with the trace

/** @internal */
export class SaltedNames {
  readonly #salt: string;
  readonly #made = new Map<string, string>();

  constructor(salt: string) {
    this.#salt = salt;
  }

  /** Of a request, forward, copy, load, transfer, writer, holder or object: its first letter says what it names. */
  name(text: string): string {
    return text.charAt(0) + this.#code(text);
  }

  /** Of anything else: a pool, a stream, a scenario, the text of a mark. */
  word(text: string): string {
    return text === "" ? "" : `n${this.#code(text)}`;
  }

  run(text: string): string {
    return `run-${this.#code(text)}`;
  }

  /** Of a digest that nothing tells more of. */
  digest(text: string): string {
    return this.#code(text);
  }

  #code(text: string): string {
    let code = this.#made.get(text);
    if (code === undefined) {
      code = createHmac("sha256", this.#salt).update(text).digest("hex").slice(0, HEX);
      if (this.#made.size >= KEPT) this.#made.clear();
      this.#made.set(text, code);
    }
    return code;
  }
}
