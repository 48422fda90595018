"""What a peer is: a name, a ladder of settings from quick to exact, and a timed fit."""

import time
from dataclasses import dataclass
from typing import Callable

# Passes over the data, steps of about 1.25: fine enough that a peer loses
# little by the granularity of the ladder.
PASSES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30, 38, 48, 60, 75, 95, 120, 150, 190, 240,
          300, 380, 480, 600, 750, 950, 1200, 1500, 1900, 2400, 3000, 3800, 4800]


def tolerances(start):
    """Tolerances from 10^start down, six to a decade."""
    return [float(f"{10 ** (start - k / 6):.3g}") for k in range(30)]


@dataclass(frozen=True)
class Peer:
    name: str
    ladder: list
    fit: Callable  # (setting, seed) -> (seconds, weights)


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
