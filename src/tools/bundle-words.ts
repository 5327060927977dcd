// Takes folders of this machine out of texts that leave it.

// An absolute path that begins a word, on POSIX or Windows, of two parts or more.
const ABSOLUTE =
  /(?<![\w.~/\\-])(?:file:\/\/)?(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\:;,'"()]+)+[/\\]([^\s/\\:;,'"()]+)/g;

// The same between quotes, where it may hold spaces, and as a whole text behind the kind of an implementation.
const QUOTED = /(['"])(?:file:\/\/)?(?:~|[A-Za-z]:)?[/\\](?:(?!\1).)*[/\\]((?:(?!\1)[^/\\])*)\1/g;
const WHOLE = /^((?:checkout|module|umpire):)?(?:~|[A-Za-z]:)?[/\\].*[/\\]([^/\\]+)[/\\]?$/s;

// Of a report: the keys of texts that may name files. Paths inside JSON begin with a slash too, so others stay.
const FILES: ReadonlySet<string> = new Set(["spec", "file", "groups", "majority"]);
const TEXTS: ReadonlySet<string> = new Set([
  ...["reproduce", "note", "message", "stderrTail", "reason"],
]);

/** The text with the last part in place of each absolute path. @internal */
export function withoutFolders(text: string): string {
  return text.replace(QUOTED, "$1$2$1").replace(ABSOLUTE, "$1");
}

/** A copy of a report whose texts name no folder of this machine. @internal */
export function reportWithoutFolders(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    if (FILES.has(key)) return withoutFolders(value.replace(WHOLE, "$1$2"));
    return TEXTS.has(key) ? withoutFolders(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => reportWithoutFolders(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      // `candidate` of a run of several is the name of one
      const isSpec = name === "candidate" && "verdict" in value;
      return [name, reportWithoutFolders(part, isSpec ? "spec" : name)];
    }),
  );
}
