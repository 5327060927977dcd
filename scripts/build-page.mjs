// Bundles the scripts of the pages and their style (src/report/html/browser) into one module of texts, so that the built
// package needs neither the bundler nor the plot library.
// Usage: node scripts/build-page.mjs     (part of npm run build)
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join("report", "html", "generated");
const browser = join(root, "src", "report", "html", "browser");
const plots = dirname(createRequire(import.meta.url).resolve("uplot/package.json"));

/** The script that begins in a file, in one piece. An end tag inside a text would end the page's script. */
async function bundledScript(entry) {
  const built = await build({
    configFile: false,
    root,
    logLevel: "warn",
    build: {
      write: false,
      target: "es2023",
      lib: { entry: join(browser, entry), formats: ["iife"], name: "unifiedTracePage" },
    },
  });
  const [{ output }] = Array.isArray(built) ? built : [built];
  if (output.length !== 1) throw new Error("the page's script is not one piece");
  return output[0].code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

function joinedStyle() {
  const license = readFileSync(join(plots, "LICENSE"), "utf8").split("\n")[2];
  const sheets = ["page.css", "cases.css", "stats.css"].map((name) => join(browser, name));
  const style = [join(plots, "dist", "uPlot.min.css"), ...sheets]
    .map((path) => readFileSync(path, "utf8").trim())
    .join("\n");
  return `/* Curves: uPlot, MIT License, ${license}. */\n${style}\n`;
}

const module = `export const script = ${JSON.stringify(await bundledScript("main.ts"))};
export const statsScript = ${JSON.stringify(await bundledScript("stats-main.ts"))};
export const style = ${JSON.stringify(joinedStyle())};
`;
const declarations = readFileSync(join(root, "src", folder, "page.d.ts"), "utf8");
// vitest reads the sources, users the build
for (const [place, name, text] of [
  ["src", "page.js", module],
  ["dist", "page.js", module],
  ["dist", "page.d.ts", declarations],
]) {
  const path = join(root, place, folder, name);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
