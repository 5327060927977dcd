// A worker thread of a stress run: seeds come in, results go out.
import { answerPieces } from "../worker-threads.js";
import { stressSeed, type StressSeedOptions } from "./seed.js";
import { plainResult } from "./units.js";

answerPieces((options: StressSeedOptions) => plainResult(stressSeed(options)));
