"""LIBLINEAR through its Python interface: dual coordinate descent and the trust-region Newton.

Its objective is ½‖w‖² + C Σ φ, so C = 1/(λn). `-B -1` is no bias. The problem
structure is built beforehand and shared by all fits, as its documentation
advises; only `train` is timed. One thread. The ladder is its tolerance `-e`.
"""

import numpy as np
from liblinear.liblinearutil import parameter, problem, train

from objective import LAMBDA
from peer import Peer, timed, tolerances

SOLVERS = {"hinge": {"dual": 3}, "logistic": {"dual": 7, "primal": 0}}
STARTS = {"dual": 1.5, "primal": 0}  # log10 of the loosest tolerance


def peers(data, loss):
    shared = problem(data.labels, data.matrix("csr", np.float64))
    return [peer(shared, data.rows, form, solver) for form, solver in SOLVERS[loss].items()]


def peer(shared, rows, form, solver):
    def fit(tolerance, _seed):
        options = parameter(full(f"-s {solver} -e {tolerance!r}", rows))
        seconds, model = timed(lambda: train(shared, options))
        return seconds, weights_of(model)

    return Peer(f"LIBLINEAR {form}", tolerances(STARTS[form]), fit)


def full(options, rows):
    return f"{options} -c {1 / (LAMBDA * rows)!r} -B -1 -q"


def weights_of(model):
    weights = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
    return weights if model.label[0] == 1 else -weights


def fit_once(options, matrix, labels):
    return weights_of(train(problem(labels, matrix), full(options, labels.size)))
