"""SciPy's L-BFGS-B on the logistic objective: what one gets with ten lines of one's own."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from objective import LAMBDA
from peer import PASSES, Peer, timed


def peers(data, loss):
    return [peer(data, layout) for layout in data.dataset.layouts] if loss == "logistic" else []


def peer(data, layout):
    matrix, labels = data.matrix(layout, np.float32), data.labels.astype(np.float32)
    turned = matrix.T.tocsr() if layout == "csr" else matrix.T

    def value_and_gradient(weights):
        margins = labels * (matrix @ weights.astype(np.float32))
        slope = turned @ (-labels * expit(-margins)) / data.rows
        value = np.logaddexp(0, -margins, dtype=np.float64).mean() + 0.5 * LAMBDA * weights @ weights
        return value, slope.astype(np.float64) + LAMBDA * weights

    def fit(iterations, _seed):
        options = {"maxiter": iterations, "ftol": 0, "gtol": 0}
        start = np.zeros(data.features)
        seconds, found = timed(lambda: minimize(value_and_gradient, start, jac=True,
                                                method="L-BFGS-B", options=options))
        return seconds, found.x

    return Peer(f"SciPy L-BFGS {layout}", PASSES, fit)
