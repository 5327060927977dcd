// From a mode's name to the mode.
import type { Equality, PartsHolder } from "./equality.js";
import { ExactEquality } from "./exact.js";
import type { CompareMode } from "./modes.js";
import { ProjectedEquality } from "./projected.js";
import { QuiescentEquality } from "./quiescent.js";
import { RenamedEquality } from "./renamed.js";

/** A fresh equality for a run. @internal */
export function equalityOf(mode: CompareMode, of: PartsHolder): Equality {
  switch (mode) {
    case "exact":
      return new ExactEquality(of);
    case "renamed":
      return new RenamedEquality(of);
    case "placement-free":
    case "decisions":
      return new ProjectedEquality(mode);
    case "quiescent":
      return new QuiescentEquality(of);
  }
}
