"""A program that uses the example heap and records itself when UNIFIED_TRACE names a file:

    UNIFIED_TRACE=live.jsonl python3 examples/kits/python/live.py
    unified-trace compare --trace live.jsonl --candidate 'cmd:python3 examples/kits/python/adapter.py'
"""

import os
import sys
from typing import List, Optional

import unified_trace_kit as kit
from first_fit import FirstFit

ARENA_BYTES = 64 * 1024

heap = FirstFit(ARENA_BYTES)
live = kit.LiveRecorder("first-fit", "1", config={"arena_bytes": ARENA_BYTES})


# The program's own entry points, each with one `with` around what it always did.
def allocate(size_bytes: int) -> Optional[int]:
    with live.alloc(size_bytes) as call:
        address = heap.allocate(size_bytes)
        if address is None:
            call.refused("refused_capacity", limit="bytes")
        else:
            call.granted(address)
        return address


def resize(address: int, size_bytes: int) -> int:
    with live.realloc(address, size_bytes) as call:
        moved = heap.resize(address, size_bytes)
        if moved is None:
            call.refused("refused_capacity", limit="bytes")
            return address
        call.granted(moved)
        return moved


def free(address: int) -> None:
    with live.free(address) as call:
        heap.free(address)
        call.granted()


def work(steps: int, crash_at: int) -> None:
    """Allocates, resizes and frees by a fixed rule; addresses come up again and again."""
    held: List[int] = []
    number = 1
    for step in range(steps):
        number = (number * 1103515245 + 12345) % 2147483648
        choice, size = number // 65536 % 8, 16 + number // 8192 % 6000
        if step == crash_at:
            with live.alloc(size):
                os._exit(9)  # as a crash inside the allocator would
        if choice < 4 or not held:
            address = allocate(size)
            if address is not None:
                held.append(address)
        elif choice < 5:
            held.append(resize(held.pop(number % len(held)), size))
        else:
            free(held.pop(number % len(held)))
    for address in held:
        free(address)


if __name__ == "__main__":
    work(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200,
        int(sys.argv[2]) if len(sys.argv) > 2 else -1,
    )
