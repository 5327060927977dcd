// The smallest adapter: answers every operation of the protocol with an empty result. Good for nothing but measuring
// the way there and back; `minimal.mjs` shows how a real one begins.
let rest = "";

function reply(line) {
  const message = JSON.parse(line);
  if (message.n !== undefined) return `{"n":${message.n},"ok":{}}\n`;
  if (message.open) return `{"opened":{"run":${JSON.stringify(message.open.run)}}}\n`;
  if (message.close)
    return `{"closed":{"run":${JSON.stringify(message.close.run)},"digest":null}}\n`;
  if (message.state) return `{"state":{}}\n`;
  return `{"hello":{"protocol":1,"name":"echo","version":"1","domains":["kv","heap"],"ops":${ops},"digest":null,"fx":false}}\n`;
}

const ops = JSON.stringify(
  (
    "boot arena.resize row.alloc row.free state.alloc state.free state.copy state.donate tokens.extend tokens.decode " +
    "tokens.free group.begin group.end window.retire request.finish request.retract request.restore forward.launch " +
    "forward.record forward.barrier forward.process event.fire chain.flush chain.relieve host.backup host.backup_done " +
    "host.load_reserve host.load_bind host.load_submit host.load_cancel host.load_done host.evict net.send net.receive " +
    "net.publish net.stall net.end tree.match tree.insert tree.lock tree.unlock tree.evict admit.pass ask.plan ask.fits " +
    "ask.fits_after_frees ask.prealloc ask.max_new_tokens ask.translate ask.estimates stages.install stages.digest " +
    "contents.discard check.idle heap.alloc heap.free heap.realloc heap.copy heap.release heap.coalesce pool.make"
  ).split(" "),
);

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  // All replies to one read go out in one write: this is what makes a window of operations fast.
  if (lines.length > 0) process.stdout.write(lines.map(reply).join(""));
});
