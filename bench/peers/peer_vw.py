"""Vowpal Wabbit through its Python module: SGD, its default update, and L-BFGS.

Its text format and its binary cache are written beforehand. Training reads the
cache in every pass, which cannot be told apart from the fit and is counted: it
is how the tool works. `--l2` is λ per example for SGD and λn in all for
`--bfgs`; with its default (adaptive, normalised) update `--l2 λ` diverges over
passes, so that form runs with λ/n: strictly another problem, but its weights
are scored on ours like everybody's.
"""

import math
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace

from objective import LAMBDA
from peer import Peer, timed

FORMS = {
    "SGD": lambda rows: f"--sgd -l 0.1 --l2 {LAMBDA}",
    "SGD fast": lambda rows: f"--sgd -l 1 --l2 {LAMBDA}",
    "adaptive, l2/n": lambda rows: f"--l2 {LAMBDA / rows}",
    "bfgs": lambda rows: f"--bfgs --termination 0 --l2 {LAMBDA * rows}",
}
LADDER = [1, 2, 4, 8, 16, 32, 64, 128]


def peers(data, loss):
    source = source_of(data)
    return [peer(source, loss, form) for form in FORMS if form != "bfgs" or loss == "logistic"]


@lru_cache(maxsize=1)
def source_of(data):
    return Source(data)


def peer(source, loss, form):
    def fit(passes, _seed):
        options = f"--loss_function {loss} --passes {passes} {FORMS[form](source.rows)}"
        seconds, model = timed(lambda: source.train(options))
        weights = np.array([model.get_weight(j) for j in range(source.features)])
        model.finish()
        return seconds, weights

    ladder = LADDER[1:] if form == "bfgs" else LADDER  # it asks for two passes at least
    return Peer(f"VW {form}", ladder, fit)


class Source:
    """The set as Vowpal Wabbit's cache, in a folder that goes away with this object."""

    def __init__(self, data):
        self.rows, self.features = data.rows, data.features
        self._folder = tempfile.TemporaryDirectory()
        self._text = Path(self._folder.name) / "rows.vw"
        bits = max(10, math.ceil(math.log2(data.features + 1)))
        self._common = (f"--quiet --noconstant --holdout_off -b {bits} -d {self._text} "
                        f"--cache_file {self._text}.cache")
        write_text(self._text, data.matrix("csr", np.float32), data.labels)
        self.train("--passes 1").finish()

    def train(self, options):
        return Workspace(f"{self._common} {options}")


def write_text(path, matrix, labels):
    with open(path, "w") as out:
        for row, label in enumerate(labels):
            span = slice(matrix.indptr[row], matrix.indptr[row + 1])
            pairs = zip(matrix.indices[span].tolist(), matrix.data[span].tolist())
            out.write(f"{label:.0f} | " + " ".join(f"{j}:{v:.7g}" for j, v in pairs) + "\n")
