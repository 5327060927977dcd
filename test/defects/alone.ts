// What a process of its own does for one defect: `find NAME FOLDER SECONDS` looks for it from the first run on and shrinks
// what it finds, `shrink NAME FOLDER SECONDS RUN` does the latter alone, `replay NAME FOLDER` runs its kept case. Each prints
// one line of JSON.
import { DEFECTS } from "./index.js";
import type { Entry } from "./found-table.js";
import { search } from "./search.js";
import { caseFile, replayAlone, shrinkFound } from "./shrunk.js";

const RUNS = 350; // 70 seeds on five layouts: every profile with every page size, twice

const [what, name, folder = "", seconds = "", run = ""] = process.argv.slice(2);
const defect = DEFECTS.find((each) => each.name === name);
if (defect === undefined) throw new Error(`no defect ${name ?? ""}`);
const file = caseFile(folder, defect);
if (what === "find") {
  const { stress, observers } = search(defect, RUNS);
  const shrunk =
    stress === null ? null : await shrinkFound(defect, stress.runs - 1, file, Number(seconds));
  const entry: Entry = { name: defect.name, stress, observers, shrunk };
  console.log(JSON.stringify(entry));
} else if (what === "shrink")
  console.log(JSON.stringify(await shrinkFound(defect, Number(run) - 1, file, Number(seconds))));
else console.log(JSON.stringify(await replayAlone(defect, file)));
