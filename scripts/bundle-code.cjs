// Runs the bundled command line once on a small comparison and keeps what V8 compiled on the way, so that the next process
// need not compile it again.
// Usage: node scripts/bundle-code.cjs     (the last step of scripts/build-bundle.mjs)
const { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const bundle = join(__dirname, "..", "dist", "bundle");
const { commandLine, compiled, sumOf } = require(join(bundle, "start.cjs"));

async function run(...words) {
  const { main } = commandLine(words[0]);
  return main([process.execPath, "unified-trace", ...words]);
}

/** Changes one digest late in the trace's first run, which has 400 operations. */
function plantIn(trace) {
  const lines = readFileSync(trace, "utf8").split("\n");
  const at = lines.findLastIndex((line, index) => index < 360 && line.includes('"digest":{"'));
  lines[at] = lines[at].replace(/("digest":\{"[^"]+":")[0-9a-f]+/, "$10000000000000000");
  writeFileSync(trace, lines.join("\n"));
}

async function train() {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-build-"));
  const trace = join(folder, "trace.jsonl");
  try {
    await run("record", "--seeds", "0:1", "--ops", "400", "--digest", "layout", "--out", trace);
    plantIn(trace);
    return await run("compare", "--trace", trace, "--candidate", "self:none", "--first");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function keep() {
  const places = {};
  const pieces = [];
  let offset = 0;
  for (const [name, script] of compiled) {
    const piece = script.createCachedData();
    // a buffer of its own: small ones share their memory
    places[name] = [offset, piece.length, sumOf(new Uint8Array(piece))];
    pieces.push(piece);
    offset += piece.length;
  }
  const file = (name) => join(bundle, name);
  writeFileSync(file("code.new"), Buffer.concat(pieces));
  rmSync(file("code.json"), { force: true }); // never beside another code.bin
  renameSync(file("code.new"), file("code.bin"));
  writeFileSync(file("code.json.new"), JSON.stringify({ bytes: offset, places }));
  renameSync(file("code.json.new"), file("code.json"));
}

async function main() {
  const code = await train();
  if (code !== 1) throw new Error(`the comparison ended with ${code}, not with a divergence`);
  keep();
}

main().catch((error) => {
  process.stderr.write(`bundle-code: ${error.message}: the command line will start slower\n`);
  process.exitCode = 1;
});
