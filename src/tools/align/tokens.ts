// A number for each operation that says as much about it as can be said without knowing the other side: its shape, and
// for every name the operation that opened it, and so on back. Equal tokens are candidates for a match, no more.
import type { Forms, Numbering } from "./forms.js";

/** The tokens of one side; `tokens` serves both. @internal */
export function tokensOf({ forms, lives }: Forms, tokens: Numbering): Int32Array {
  const found = new Int32Array(forms.length);
  for (const [index, form] of forms.entries()) {
    const names = form.lives.map((life) => {
      // every number of a form is one of the side's lives
      const { kind, name, opener, slot } = lives[life]!;
      if (opener === index) return "^";
      return opener < 0 ? `~${kind} ${name}` : `${found[opener] ?? -1}.${slot}`;
    });
    found[index] = tokens.of(`${form.shape}|${names.join(",")}`);
  }
  return found;
}
