// A minimal adapter in plain JavaScript: the whole protocol around an allocator that only knows request rows.
// It is named on the command line as  --candidate 'cmd:node examples/adapters/minimal.mjs'
//
// Lines of JSON come in on standard input; for each of them one line goes out, in the same order. Standard error is
// free for messages. Replies to everything that one read brought are written together: that is what makes it fast.

// --- the allocator ---------------------------------------------------------------------------------------------

class Rows {
  constructor(config) {
    this.config = config;
    this.free = Array.from({ length: config.rows }, (_, index) => index + 1); // handed out first in, first out
    this.held = new Map(); // request → row
  }

  boot() {
    // The geometry that docs/trace-format.md defines.
    const { page_size, arena_bytes, sub_pools } = this.config;
    const pageTokens = (pool) => (pool.kind === "state" ? 1 : page_size);
    const sink_bytes = Math.max(...sub_pools.map((pool) => pool.unit_bytes * pageTokens(pool)));
    const rank = (pool) =>
      pool.kind === "state" ? -Infinity : pool.window === undefined ? Infinity : -pool.window;
    const chain = sub_pools.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
    const bands = {};
    chain.forEach(({ name, unit_bytes, ...pool }, index) => {
      const tokens = pageTokens(pool);
      const grow = index === chain.length - 1 ? "down" : index === 0 ? "up" : "float";
      const pages = Math.floor(Math.floor(arena_bytes / unit_bytes) / tokens);
      const first_page = Math.ceil(Math.ceil(sink_bytes / unit_bytes) / tokens);
      bands[name] = { grow, unit_bytes, page_bytes: unit_bytes * tokens, pages, first_page };
    });
    return { ok: { bands, sink_bytes } };
  }

  "row.alloc"({ reqs }) {
    const open = reqs.find((req) => this.held.has(req));
    if (open !== undefined) return { err: { code: "invalid", rule: "row_in_use", req: open } };
    if (reqs.length > this.free.length) {
      return { err: { code: "refused_rows", need: reqs.length, free: this.free.length } };
    }
    const rows = {};
    for (const req of reqs) {
      rows[req] = this.free.shift();
      this.held.set(req, rows[req]);
    }
    return { ok: { rows } };
  }

  "row.free"({ req }) {
    if (!this.held.has(req)) return { err: { code: "invalid", rule: "unknown_request", req } };
    this.free.push(this.held.get(req));
    this.held.delete(req);
    return { ok: {} };
  }
}

// --- the protocol ----------------------------------------------------------------------------------------------

const ops = ["boot", "row.alloc", "row.free"];
let allocator = null;

function reply(message) {
  const { n, op } = message;
  if (n !== undefined) {
    if (!ops.includes(op)) return { error: { code: "protocol", message: `${op} is not answered` } };
    return { n, ...allocator[op](message.args) };
  }
  if (message.hello) {
    return {
      hello: {
        protocol: 1,
        name: "minimal",
        version: "1",
        domains: ["kv"],
        ops,
        digest: null,
        fx: true,
      },
    };
  }
  if (message.open) {
    const { domain = "kv" } = message.open;
    if (domain !== "kv") return { error: { code: "config", message: `no domain ${domain} here` } };
    allocator = new Rows(message.open.config);
    return { opened: { run: message.open.run } };
  }
  if (message.state) return { state: null }; // it has no state to show
  if (message.close) return { closed: { run: message.close.run, digest: null } };
  throw new Error(`unknown message: ${JSON.stringify(message)}`); // a crash is a verdict, too
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop(); // the beginning of a line whose end is still to come
  const replies = lines.map((line) => `${JSON.stringify(reply(JSON.parse(line)))}\n`);
  if (replies.length > 0) process.stdout.write(replies.join(""));
});
