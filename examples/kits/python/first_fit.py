"""A small heap allocator: the first gap that is large enough. Offsets count from 0; nothing is kept in the memory."""

from typing import Dict, List, Optional, Tuple

GRAIN_BYTES = 16  # sizes are rounded up to it, and every object begins on it


class FirstFit:
    def __init__(self, arena_bytes: int) -> None:
        self.arena_bytes = arena_bytes
        self.gaps: List[Tuple[int, int]] = [(0, arena_bytes // GRAIN_BYTES * GRAIN_BYTES)]  # [from, to), ascending
        self.sizes: Dict[int, int] = {}  # bytes by offset

    def allocate(self, size_bytes: int, align_bytes: int = GRAIN_BYTES) -> Optional[int]:
        """The offset of the first place that fits, or None."""
        size = max(GRAIN_BYTES, -(-size_bytes // GRAIN_BYTES) * GRAIN_BYTES)
        align = max(GRAIN_BYTES, align_bytes)
        for index, (start, end) in enumerate(self.gaps):
            place = -(-start // align) * align
            if place + size > end:
                continue
            around = [(start, place), (place + size, end)]
            self.gaps[index : index + 1] = [gap for gap in around if gap[0] < gap[1]]
            self.sizes[place] = size
            return place
        return None

    def free(self, offset: int) -> None:
        start, end = offset, offset + self.sizes.pop(offset)
        index = 0
        while index < len(self.gaps) and self.gaps[index][0] < start:
            index += 1
        self.gaps.insert(index, (start, end))
        for left in (index, index - 1):  # with its right neighbour, then with its left one
            if 0 <= left < len(self.gaps) - 1 and self.gaps[left][1] == self.gaps[left + 1][0]:
                self.gaps[left : left + 2] = [(self.gaps[left][0], self.gaps[left + 1][1])]

    def resize(self, offset: int, size_bytes: int) -> Optional[int]:
        """The new offset: elsewhere if that fits, else None, and nothing has changed."""
        moved = self.allocate(size_bytes)
        if moved is not None:
            self.free(offset)
        return moved
