"""P* for the hinge loss: the whole dual solved by a primal-dual interior-point method.

    min over 0 ≤ a ≤ 1 of  ½ aᵀQa − cᵀa,   Q = VVᵀ,  V = diag(y) X / √(λn)

(both sides multiplied by n). Coordinate descent stalls near 1e-5 on the dense
sets; Newton steps on the central path do not, and the n × n system folds by
Woodbury's identity into a d × d one. For the text set (d > n) the rows whose
side of the margin is beyond doubt are fixed first and the remaining system is
solved as it stands. Either way the answer is a bracket that proves itself:
D(a) ≤ P* ≤ P(w(a)), both evaluated on all rows.
"""

import numpy as np
from scipy import linalg, sparse

from objective import LAMBDA, primal

WIDE = 2000  # more features than this: solve in rows rather than in features
DOUBT = 0.25  # rows with |1 - margin| below this stay free in the wide case


def bracket(matrix, labels, guess):
    """(D(a), P(w)) with D ≤ P* ≤ P; `guess` gives rough weights, asked for only if d is wide."""
    rows = labels.size
    signed = sparse.diags(labels) @ matrix
    fixed = np.zeros(rows)
    free = np.ones(rows, bool)
    if matrix.shape[1] > WIDE:
        margins = signed @ guess()
        free = np.abs(1 - margins) < DOUBT
        fixed = np.where(~free & (margins < 1), 1.0, 0.0)
    linear = 1 - (signed[free] @ (signed.T @ fixed)) / (LAMBDA * rows)
    factor = signed[free] / np.sqrt(LAMBDA * rows)
    alpha = fixed
    alpha[free] = solve(factor, linear)
    return score(matrix, labels, signed, alpha)


def score(matrix, labels, signed, alpha):
    weights = signed.T @ alpha / (LAMBDA * labels.size)
    dual = alpha.mean() - 0.5 * LAMBDA * weights @ weights
    return dual, primal("hinge", matrix, labels, weights)


def solve(factor, linear, rounds=100, target=1e-10):
    """Mehrotra's predictor and corrector; `lower` and `upper` are the multipliers of 0 ≤ a ≤ 1."""
    wide = factor.shape[1] > WIDE
    factor = factor if wide else np.asarray(factor.todense())
    gram = np.asarray((factor @ factor.T).todense()) if wide else None
    count = linear.size
    a, lower, upper = np.full(count, 0.5), np.ones(count), np.ones(count)
    for _ in range(rounds):
        gradient = factor @ (factor.T @ a) - linear
        residual = gradient - lower + upper
        gap = (a @ lower + (1 - a) @ upper) / (2 * count)
        if gap < target and np.abs(residual).max() < target * 100:
            break
        system = folded(factor, gram, lower / a + upper / (1 - a))

        def direction(low, up):  # low, up: what a·lower and (1-a)·upper should change by
            step = system(-residual + low / a - up / (1 - a))
            return step, (low - lower * step) / a, (up + upper * step) / (1 - a)

        step, low, up = direction(-a * lower, -(1 - a) * upper)
        near, far = lengths(a, step, lower, low, upper, up)
        ahead = ((a + near * step) @ (lower + far * low)
                 + (1 - a - near * step) @ (upper + far * up)) / (2 * count)
        centre = gap * (ahead / gap) ** 3
        step, low, up = direction(centre - a * lower - step * low,
                                  centre - (1 - a) * upper + step * up)
        near, far = lengths(a, step, lower, low, upper, up)
        length = 0.995 * min(near, far)
        a, lower, upper = a + length * step, lower + length * low, upper + length * up
    return np.clip(a, 0, 1)


def folded(factor, gram, diagonal):
    """Solver of (diag + VVᵀ) x = r."""
    if gram is not None:
        matrix = gram.copy()
        matrix[np.diag_indices_from(matrix)] += diagonal
        rows = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
        return lambda r: linalg.cho_solve(rows, r, check_finite=False)
    scaled = factor / np.sqrt(diagonal)[:, None]
    inner = linalg.cho_factor(np.eye(factor.shape[1]) + scaled.T @ scaled, check_finite=False)

    def once(r):
        return (r - factor @ linalg.cho_solve(inner, factor.T @ (r / diagonal))) / diagonal

    def refined(r):
        x = once(r)
        return x + once(r - diagonal * x - factor @ (factor.T @ x))

    return refined


def lengths(a, step, lower, low, upper, up):
    """The longest steps, for a and for the multipliers, that stay inside the bounds."""
    def longest(value, change):
        shrinking = change < 0
        return min(1.0, (-value[shrinking] / change[shrinking]).min(initial=np.inf))

    return (min(longest(a, step), longest(1 - a, -step)),
            min(longest(lower, low), longest(upper, up)))
