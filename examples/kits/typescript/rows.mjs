// The least of domain `kv`: request rows and the page grids, no pages.
import { granted, invalid, refused, RefusedConfiguration } from "./unified-trace-kit.mjs";

export class Rows {
  static domain = "kv";
  static fx = true; // rows need no effect, so there is never one to tell

  constructor({ config }) {
    const { sub_pools = [], page_size = 0, rows = 0 } = config;
    if (sub_pools.length === 0 || page_size < 1 || rows < 1)
      throw new RefusedConfiguration(`"sub_pools", "page_size" and "rows" are needed`);
    this.config = config;
    this.free = Array.from({ length: rows }, (_, index) => index + 1); // handed out first in, first out
    this.held = new Map(); // row by request
  }

  // The page grids, as docs/trace-format.md defines them.
  boot() {
    const { page_size, arena_bytes, sub_pools } = this.config;
    const tokens = (pool) => (pool.kind === "state" ? 1 : page_size);
    const sink_bytes = Math.max(...sub_pools.map((pool) => pool.unit_bytes * tokens(pool)));
    // state first, then windows from the longest, then full
    const rank = ({ kind, window }) => (kind === "state" ? -Infinity : -(window ?? -Infinity));
    const chain = sub_pools.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
    const bands = {};
    chain.forEach((pool, index) => {
      const { name, unit_bytes } = pool;
      bands[name] = {
        grow: index === chain.length - 1 ? "down" : index === 0 ? "up" : "float",
        unit_bytes,
        page_bytes: unit_bytes * tokens(pool),
        pages: Math.floor(Math.floor(arena_bytes / unit_bytes) / tokens(pool)),
        first_page: Math.ceil(Math.ceil(sink_bytes / unit_bytes) / tokens(pool)),
      };
    });
    return granted({ bands, sink_bytes });
  }

  "row.alloc"({ reqs }) {
    const open = reqs.find((req) => this.held.has(req));
    if (open !== undefined) return invalid("row_in_use", { req: open });
    if (reqs.length > this.free.length)
      return refused("refused_rows", { need: reqs.length, free: this.free.length });
    const rows = {};
    for (const req of reqs) {
      rows[req] = this.free.shift();
      this.held.set(req, rows[req]);
    }
    return granted({ rows });
  }

  "row.free"({ req }) {
    const row = this.held.get(req);
    if (row === undefined) return invalid("unknown_request", { req });
    this.held.delete(req);
    this.free.push(row);
    return granted();
  }
}
