// The script of the report page: reads the packed data and starts the parts that draw. A page has one run, or a table of many
// with those that failed.
import { Cases } from "./cases.js";
import { part } from "./dom.js";
import { showRun, tellFailure } from "./run-view.js";
import { ThemeSwitch } from "./theme-switch.js";

const themes = new ThemeSwitch();
if (document.getElementById("cases") !== null) new Cases(themes);
else {
  const block = part("data", HTMLScriptElement);
  const base64 = block.textContent;
  block.remove(); // not needed any more
  showRun(base64, themes, new AbortController().signal).catch(tellFailure);
}
