"""Recomputes pstar.json: for each (dataset, loss) a bracket that certainly holds P*.

The benchmark measures against the upper end of the bracket, the least primal
value seen; `relative_width` says how much that can flatter anybody.

    ./run --pstar            everything
    ./run --pstar --only a9a one set
"""

import json
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import datasets
import pstar_hinge
import pstar_logistic
from objective import LAMBDA, LOSSES

FILE = Path(__file__).with_name("pstar.json")
METHODS = {
    "hinge": (pstar_hinge.bracket, "interior-point method on the dual; [D(a), P(w(a))] in float64"),
    "logistic": (pstar_logistic.bracket,
                 "L-BFGS, then Newton-CG; [P - |grad|^2/(2 lambda), P] in float64"),
}


def known():
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def optimum(name, loss):
    """P* as the benchmark uses it: the least primal value seen."""
    return known()[f"{name}/{loss}"]["upper"]


def recompute(sets, losses):
    for dataset in sets:
        matrix, labels = dataset.load(datasets.folder())
        matrix = sparse.csr_matrix(matrix)
        for loss in losses:
            entry = entry_of(loss, matrix, labels)
            FILE.write_text(json.dumps(known() | {f"{dataset.name}/{loss}": entry}, indent=2) + "\n")
            print(f"{dataset.name:20} {loss:9} [{entry['lower']:.12f}, {entry['upper']:.12f}]"
                  f"  width {entry['relative_width']:.1e}  {entry['seconds']} s", flush=True)


def entry_of(loss, matrix, labels):
    bracket, how = METHODS[loss]
    start = time.perf_counter()
    lower, upper = bracket(matrix, labels, lambda: rough_hinge(matrix, labels))
    return {"lower": lower, "upper": upper, "relative_width": (upper - lower) / upper,
            "lambda": LAMBDA, "rows": labels.size, "features": matrix.shape[1],
            "how": how, "seconds": round(time.perf_counter() - start, 1)}


def rough_hinge(matrix, labels):
    """LIBLINEAR's weights: only to tell which rows are clearly on one side of the margin."""
    from peer_liblinear import fit_once
    return fit_once("-s 3 -e 1e-4", matrix, labels)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    recompute(datasets.CATALOGUE, LOSSES)
