"""Answers every operation of domain `heap`, and of `kv` those that a benchmark sends, with an empty result."""

import sys
from typing import Any, Dict

import unified_trace_kit as kit


class EchoHeap(kit.Implementation):
    domain = "heap"

    @kit.operation("heap.alloc")
    def alloc(self, args: Dict[str, Any]) -> kit.Answer:
        return {}

    @kit.operation("heap.free")
    def free(self, args: Dict[str, Any]) -> kit.Answer:
        return {}


class EchoKv(kit.Implementation):
    domain = "kv"

    @kit.operation("boot")
    def boot(self, args: Dict[str, Any]) -> kit.Answer:
        return {}

    @kit.operation("ask.fits")
    def fits(self, args: Dict[str, Any]) -> kit.Answer:
        return {}


if __name__ == "__main__":
    sys.exit(kit.serve([EchoHeap, EchoKv], name="echo", version="1"))
