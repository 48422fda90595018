"""P* for the logistic loss: L-BFGS for the way, Newton with conjugate gradients for the end.

At any w the dual point a_i = σ(-z_i) has P(w) - D(a) = ‖∇P(w)‖²/(2λ) exactly,
so a small gradient is a proof: the bracket is [P - ‖∇P‖²/(2λ), P].
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from objective import LAMBDA, primal


def bracket(matrix, labels, _guess=None):
    def value_and_gradient(w):
        margins = labels * (matrix @ w)
        slope = matrix.T @ (-labels * expit(-margins)) / labels.size
        value = np.logaddexp(0.0, -margins).mean() + 0.5 * LAMBDA * w @ w
        return value, slope + LAMBDA * w

    start = np.zeros(matrix.shape[1])
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B",
                     options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-8})
    weights = found.x
    for _ in range(20):
        gradient = value_and_gradient(weights)[1]
        if np.linalg.norm(gradient) < 1e-11:
            break
        weights = weights - newton_step(matrix, labels, weights, gradient)
    gap = np.linalg.norm(value_and_gradient(weights)[1]) ** 2 / (2 * LAMBDA)
    upper = primal("logistic", matrix, labels, weights)
    return upper - gap, upper


def newton_step(matrix, labels, weights, gradient):
    """∇²P⁻¹ ∇P by plain conjugate gradients."""
    chance = expit(matrix @ weights)
    curvature = chance * (1 - chance) / labels.size

    def hessian(v):
        return matrix.T @ (curvature * (matrix @ v)) + LAMBDA * v

    step, left = np.zeros_like(gradient), gradient.copy()
    along, size = left.copy(), left @ left
    goal = 1e-8 * size
    while size > goal:
        image = hessian(along)
        length = size / (along @ image)
        step += length * along
        left -= length * image
        size, before = left @ left, size
        along = left + size / before * along
    return step
