// Defects planted between the books and the bytes: an arena that leaves out or changes verbs of the scripts it is given. The books
// say what should be there, so whatever is found is found by the bytes alone.

import { VERB } from "../../dist/device/bytes-script.js";

const KINDS = new Map([
  [VERB.forward, "forward"],
  [VERB.hostCopy, "copy"],
  [VERB.fill, "copy"],
  [VERB.send, "transfer"],
  [VERB.receive, "transfer"],
]);

const skip = () => null;
const isWaitFor = (kind) => (verb, handles) =>
  verb[0] === VERB.wait && handles.get(verb[2]) === kind;

/** Name, which verbs it spoils, and what becomes of them: null leaves one out. */
export const DEFECTS = [
  { name: "the schedule stream does not wait a forward", hits: isWaitFor("forward"), spoil: skip },
  { name: "the schedule stream does not wait a host copy", hits: isWaitFor("copy"), spoil: skip },
  {
    name: "no barrier before rows are written",
    hits: (verb) => verb[0] === VERB.barrier,
    spoil: skip,
  },
  {
    name: "the host does not wait a transfer",
    hits: (verb, handles) => verb[0] === VERB.hostWait && handles.get(verb[2]) === "transfer",
    spoil: skip,
  },
  {
    name: "a move leaves its last page out",
    hits: (verb) => verb[0] === VERB.move && verb[3] === 0,
    spoil: (verb) => withCount(verb.slice(0, -2), 4, -1),
  },
  {
    name: "a state is not copied",
    hits: (verb) => verb[0] === VERB.move && verb[3] === 1,
    spoil: skip,
  },
  {
    name: "a moved page keeps its old place in the table",
    hits: (verb) => verb[0] === VERB.bind && verb[3] === 0 && verb[6] !== 0,
    spoil: (verb) => withCount([...verb.slice(0, 5), ...verb.slice(7)], 4, -1),
  },
  {
    name: "a host copy goes to the host page beside",
    hits: (verb, _handles, config) =>
      verb[0] === VERB.hostCopy && verb[3] === 0 && config.bands[verb[6]].hostPages > 1,
    spoil: (verb, config) => {
      const pages = config.bands[verb[6]].hostPages;
      return [...verb.slice(0, 8), (verb[8] + 1) % pages, ...verb.slice(9)];
    },
  },
  {
    name: "a forward writes a token less",
    hits: (verb) => verb[0] === VERB.forward && verb[6] > 0,
    spoil: (verb) => withCount(verb.slice(0, -6), 6, -1),
  },
  {
    name: "a page that was handed out is not bound",
    hits: (verb) => verb[0] === VERB.bind && verb[3] === 1 && verb[6] !== 0,
    spoil: (verb) => withCount([...verb.slice(0, 5), ...verb.slice(7)], 4, -1),
  },
];

/** A backend whose arenas carry scripts out with a defect. `counts.spoilt` tells how often. */
export function spoiltBackend(backend, defect, counts) {
  return {
    ...backend,
    open(config) {
      const arena = backend.open(config);
      const handles = new Map();
      return new Proxy(arena, {
        get(target, name) {
          if (name !== "submit") {
            const value = target[name];
            return typeof value === "function" ? value.bind(target) : value;
          }
          return (words, count) => {
            const spoilt = spoil(words.subarray(0, count), defect, handles, config, counts);
            target.submit(spoilt, spoilt.length);
          };
        },
      });
    },
  };
}

function spoil(words, defect, handles, config, counts) {
  const out = [];
  for (let at = 0; at < words.length; at += words[at + 1]) {
    const verb = [...words.subarray(at, at + words[at + 1])];
    if (KINDS.has(verb[0])) handles.set(verb[2], KINDS.get(verb[0]));
    if (!defect.hits(verb, handles, config)) {
      out.push(...verb);
      continue;
    }
    counts.spoilt += 1;
    const changed = defect.spoil(verb, config);
    if (changed !== null) out.push(...changed);
  }
  return Int32Array.from(out);
}

/** The verb with its length set anew and `by` added to the count at `index`. */
function withCount(verb, index, by) {
  const changed = [...verb];
  changed[1] = changed.length;
  changed[index] += by;
  return changed;
}
