"""ln of the best number of workers as a line in the logarithms of a few characters, fitted to cells and judged on others."""

import math
from dataclasses import dataclass

import numpy as np

UNSURE = 2.0  # an interval is from half to twice the prediction, a factor of four
MOST = 1024.0  # more workers were not tried
LEAST_ROWS = 2.0
RIDGE = 2.0  # on terms of unit spread, in cells
REAL = 4.0  # a cell of real data counts for so many of generated data, as in bench/prior
FAR_OFF = 1.0  # cells so far from the line, in ln, count half: a few odd ones are not to decide
SWEEPS = 25
NARROW = 0.2  # the least standard deviation that says what a bound is worth
FOLDS = 12


@dataclass
class Line:
    names: list
    typical: float
    slopes: np.ndarray
    centres: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def predict(self, cell):
        """The best number of workers, as `hemingway profile` predicts it."""
        known = np.clip(values(cell, self.names), self.least, self.most)
        most = max(1.0, min(MOST, cell.rows / LEAST_ROWS, cell.characters["distinct"] * cell.rows))
        return min(max(math.exp(self.typical + self.slopes @ (known - self.centres)), 1.0), most)


def values(cell, names):
    return np.array([math.log(cell.characters[name]) for name in names])


def fit(cells, names):
    """Least squares with a ridge, in which far cells count less and censored ones are bounds (Tobit)."""
    rows = np.array([values(cell, names) for cell in cells]).reshape(len(cells), len(names))
    best, censored = np.log([cell.best for cell in cells]), np.array([cell.censored for cell in cells])
    centres, spread = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    design = np.hstack([np.ones((len(cells), 1)), (rows - centres) / spread])
    ridge = np.diag([1e-9] + [RIDGE] * len(names))
    counts = np.array([1.0 if cell.group == "generated" else REAL for cell in cells])
    counts /= counts.mean()
    guess, sigma, weights = best + 0.5 * censored, 1.0, counts
    for _ in range(SWEEPS):
        weighted = design * weights[:, None]
        beta = np.linalg.solve(weighted.T @ design + ridge, weighted.T @ guess)
        middle = design @ beta
        guess = np.where(censored, middle + sigma * beyond((best - middle) / sigma), best)
        off = guess - middle
        sigma = max(math.sqrt((weights * off**2).sum() / weights.sum()), NARROW)
        weights = counts / (1 + (off / FAR_OFF) ** 2)
    least, most = (rows.min(0), rows.max(0)) if names else (np.zeros(0), np.zeros(0))
    return Line(list(names), float(beta[0]), beta[1:] / spread, centres, least, most)


def beyond(bound):
    """The mean of a standard normal number above a bound."""
    tail = np.array([0.5 * math.erfc(x / math.sqrt(2)) for x in bound])
    density = np.exp(-bound**2 / 2) / math.sqrt(2 * math.pi)
    return np.where(tail > 1e-12, density / np.maximum(tail, 1e-300), bound)


def left_out(cells, names, folds=None):
    """Each cell with what a line says that saw nothing of its source; of many folds, or source by source."""
    sources = [str(source) for source in np.random.default_rng(0).permutation(sorted({cell.source for cell in cells}))]
    judged = []
    for at in range(folds or len(sources)):
        out = set(sources[at::folds] if folds else [sources[at]])
        line = fit([cell for cell in cells if cell.source not in out], names)
        judged += [(cell, line.predict(cell)) for cell in cells if cell.source in out]
    return judged


def is_inside(cell, predicted):
    """Whether the interval holds the best m; of a censored cell, whether it reaches what is known."""
    low, high = predicted / UNSURE, predicted * UNSURE
    return high >= cell.best * 0.999 and (cell.censored or low <= cell.best * 1.001)


def share(judged):
    return float(np.mean([is_inside(cell, predicted) for cell, predicted in judged])) if judged else math.nan


def loss(judged):
    """How far off predictions are: like squares near by, beyond an interval like logarithms. Shares are too coarse to choose by."""
    off = [math.log(cell.best / predicted) for cell, predicted in judged]
    off = [max(each, 0.0) if cell.censored else each for (cell, _), each in zip(judged, off)]
    return float(np.mean(np.log1p((np.array(off) / math.log(UNSURE)) ** 2)))
