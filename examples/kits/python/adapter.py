"""The example allocators behind the adapter protocol: --candidate 'cmd:python3 examples/kits/python/adapter.py'

Domain `heap` is a first-fit heap. Domain `kv` knows request rows only: the least that one can begin with.
"""

import sys
from typing import Any, Dict

import unified_trace_kit as kit
from first_fit import FirstFit

Args = Dict[str, Any]


class Heap(kit.Implementation):
    domain = "heap"

    def __init__(self, opening: kit.Opening) -> None:
        super().__init__(opening)
        arena_bytes = opening.config.get("arena_bytes")
        if not isinstance(arena_bytes, int) or arena_bytes <= 0:
            raise kit.RefusedConfiguration('"arena_bytes" is not a number above 0')
        self.heap = FirstFit(arena_bytes)
        self.offsets: Dict[str, int] = {}  # by lifetime

    @kit.operation("heap.alloc")
    def alloc(self, args: Args) -> kit.Answer:
        if args["id"] in self.offsets:
            return kit.invalid("name_state", req=args["id"])
        offset = self.heap.allocate(args["size_bytes"], args.get("align_bytes", 1))
        if offset is None:
            return kit.refused("refused_capacity", limit="bytes")
        self.offsets[args["id"]] = offset
        return {"address_offset": offset}

    @kit.operation("heap.free")
    def free(self, args: Args) -> kit.Answer:
        offset = self.offsets.pop(args["id"], None)
        if offset is None:
            return kit.invalid("unknown_request", req=args["id"])
        self.heap.free(offset)
        return {}

    @kit.operation("heap.realloc")
    def realloc(self, args: Args) -> kit.Answer:
        offset = self.offsets.get(args["id"])
        if offset is None:
            return kit.invalid("unknown_request", req=args["id"])
        moved = self.heap.resize(offset, args["size_bytes"])
        if moved is None:
            return kit.refused("refused_capacity", limit="bytes")
        self.offsets[args["id"]] = moved
        return {"address_offset": moved}


class Rows(kit.Implementation):
    domain = "kv"
    fx = True  # rows need no effect, so there is never one to tell

    def __init__(self, opening: kit.Opening) -> None:
        super().__init__(opening)
        config = opening.config
        if not config.get("sub_pools") or config.get("page_size", 0) < 1 or config.get("rows", 0) < 1:
            raise kit.RefusedConfiguration('"sub_pools", "page_size" and "rows" are needed')
        self.free_rows = list(range(1, config["rows"] + 1))  # handed out first in, first out
        self.rows: Dict[str, int] = {}

    @kit.operation("boot")
    def boot(self, args: Args) -> kit.Answer:
        return geometry(self.opening.config)

    @kit.operation("row.alloc")
    def alloc(self, args: Args) -> kit.Answer:
        for req in args["reqs"]:
            if req in self.rows:
                return kit.invalid("row_in_use", req=req)
        need, free = len(args["reqs"]), len(self.free_rows)
        if need > free:
            return kit.refused("refused_rows", need=need, free=free)
        given = {req: self.free_rows.pop(0) for req in args["reqs"]}
        self.rows.update(given)
        return {"rows": given}

    @kit.operation("row.free")
    def free(self, args: Args) -> kit.Answer:
        row = self.rows.pop(args["req"], None)
        if row is None:
            return kit.invalid("unknown_request", req=args["req"])
        self.free_rows.append(row)
        return {}


def geometry(config: Args) -> Args:
    """What `boot` answers: the page grids, as docs/trace-format.md defines them."""

    def rank(pool: Args) -> float:  # state first, then windows from the longest, then full
        if pool["kind"] == "state":
            return float("-inf")
        return float("inf") if pool.get("window") is None else -pool["window"]

    def tokens(pool: Args) -> int:
        return 1 if pool["kind"] == "state" else config["page_size"]

    chain = sorted(config["sub_pools"], key=rank)
    sink_bytes = max(pool["unit_bytes"] * tokens(pool) for pool in chain)
    bands = {}
    for index, pool in enumerate(chain):
        unit_bytes, page_tokens = pool["unit_bytes"], tokens(pool)
        bands[pool["name"]] = {
            "grow": "down" if index == len(chain) - 1 else "up" if index == 0 else "float",
            "unit_bytes": unit_bytes,
            "page_bytes": unit_bytes * page_tokens,
            "pages": config["arena_bytes"] // unit_bytes // page_tokens,
            "first_page": -(-(-(-sink_bytes // unit_bytes)) // page_tokens),
        }
    return {"bands": bands, "sink_bytes": sink_bytes}


if __name__ == "__main__":
    sys.exit(kit.serve([Heap, Rows], name="first-fit", version="1"))
