"""Measured curves, and the best number of workers of each.

The definition, chosen before curves were measured. Iterations per worker are fitted, in logarithms, by A·(1/m + a + c·m)
with a, c >= 0: they fall, flatten and rise. The best m is the end of the last doubling of workers that saves a fifth of the
iterations of each. Of A·(1/m + c·m) that is the minimum, 1/√c; of a curve that only flattens it is 3/a; in general it solves
c·m² + a·m/3 = 1.

A curve whose best m is not below the largest that was tried is censored there: all that is known is that it is no less. Such a
curve that ends before 256 workers says too little and is left out, as are runs that did not reach the goal.
"""

import gzip
import json
import math
from dataclasses import dataclass

import numpy as np

FAMILIES = ["asynchronous", "mini-batch", "decentralised", "dual"]
FAR = 256  # workers from which on a curve that does not turn says something
EASY = 10
FEWEST = 3  # points of a curve
LEAST_ROWS = 2  # rows of a worker
GRID = np.arange(0, 14 * 16 + 1) / 16 * math.log(2)  # ln of the best m
SHARES = np.linspace(0, 1, 21)  # of c·m² in c·m² + a·m/3 = 1: 1 where a curve turns, 0 where it flattens
HELD_BACK = {"a9a", "adult", "california", "fashion-mnist", "higgs", "magic", "mnist", "mushrooms", "newsgroups20", "reuters",
             "satimage", "spambase", "twonorm", "w8a"}  # of bench/regret: took no part in choosing characters
SAME = {"a9a": "adult"}  # other columns of the same people


@dataclass
class Cell:
    """A family on a dataset with a penalty."""
    data: str
    source: str  # datasets of one source are left out together
    group: str
    penalty: float
    family: str
    rows: int
    characters: dict
    tried: float  # the most workers that were tried
    best: float  # no more than that
    turns: float
    off: float  # standard deviation of ln iterations around the form
    censored: bool
    easy: bool  # zero weights are within ten times the goal, so that a lucky step reaches it


def read(curves, characters):
    """The cells that say something, and how many there would be if all curves did."""
    known = {(of["data"], of["lambda"]): of["characters"] for of in map(json.loads, lines(characters))}
    measured = [json.loads(line) for line in lines(curves)]
    cells = [cell(line, known) for line in measured if len(line["points"]) >= FEWEST]
    return [each for each in cells if each], sum(line["family"] in FAMILIES for line in measured)


def lines(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [line for line in file.read().splitlines() if line]


def cell(line, known):
    name = line["data"]
    stem = name.split(".")[0]
    group = "generated" if name.startswith("generated-") else "held back" if name in HELD_BACK else "real"
    tried = float(line["points"][-1][0])
    found, turns, off = best(line["points"])
    censored = found >= tried
    if censored and tried < FAR:
        return None
    return Cell(name, SAME.get(stem, stem), group, line["lambda"], line["family"], line["rows"], known[name, line["lambda"]],
                tried, min(found, tried), turns, off, censored, math.log(2) / line["optimum"] - 1 < EASY * line["goal"])


def best(points):
    """The best m, how much the curve turns there, and how far the points are from the form."""
    workers, iterations = np.array([point[:2] for point in points]).T
    m, turns = np.exp(GRID)[:, None, None], SHARES[None, :, None]
    form = np.log(1 / workers + 3 * (1 - turns) / m + turns / m**2 * workers)
    off = (np.log(iterations) - form).std(-1)
    row, column = np.unravel_index(off.argmin(), off.shape)
    return math.exp(GRID[row]), float(SHARES[column]), float(off[row, column])
