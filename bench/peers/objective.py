"""The number every solver is judged by, in float64 and apart from all of them.

    P(w) = (1/n) Σ φ(y_i x_i·w) + (λ/2)‖w‖²,   no bias

The weights a solver returns are scored here, whatever it says of itself.
"""

import numpy as np

LAMBDA = 1e-4
LOSSES = ("hinge", "logistic")


def losses(loss, margins):
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - margins)
    return np.logaddexp(0.0, -margins)


def primal(loss, matrix, labels, weights):
    weights = np.asarray(weights, dtype=np.float64).ravel()
    margins = labels * (matrix @ weights)
    return losses(loss, margins).mean() + 0.5 * LAMBDA * weights @ weights


def relative_error(objective, optimum):
    return (objective - optimum) / optimum
