"""scikit-learn: LogisticRegression with four of its solvers, LinearSVC, and SGDClassifier.

LogisticRegression and LinearSVC minimise ½‖w‖² + C Σ φ, so C = 1/(λn);
SGDClassifier's alpha is λ itself. LinearSVC is LIBLINEAR's dual solver again,
but without its fixed limit of 300 iterations, which on the dense sets ends
LIBLINEAR before 1e-4; the copy it makes of the data is counted. Data are
float32 where a solver keeps that (LinearSVC wants float64). BLAS uses both cores.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from objective import LAMBDA
from peer import PASSES, Peer, timed, tolerances

warnings.simplefilter("ignore", ConvergenceWarning)
SGD_LOSS = {"hinge": "hinge", "logistic": "log_loss"}
SOLVERS = {"lbfgs": PASSES, "saga": PASSES, "newton-cg": PASSES[:12], "newton-cholesky": PASSES[:12]}
MOST_FEATURES_FOR_CHOLESKY = 2000


def peers(data, loss):
    found = [sgd(data, layout, loss) for layout in data.dataset.layouts]
    if loss == "hinge":
        found = [linear_svc(data)] + found
    if loss == "logistic":
        found += [logistic(data, layout, solver) for solver in SOLVERS
                  for layout in data.dataset.layouts
                  if solver != "newton-cholesky" or data.features <= MOST_FEATURES_FOR_CHOLESKY]
    return found


def logistic(data, layout, solver):
    matrix = data.matrix(layout, np.float32)

    def fit(iterations, seed):
        model = LogisticRegression(C=1 / (LAMBDA * data.rows), fit_intercept=False, solver=solver,
                                   max_iter=iterations, tol=1e-10, random_state=seed)
        seconds, _ = timed(lambda: model.fit(matrix, data.labels))
        return seconds, model.coef_

    return Peer(f"sklearn {solver} {layout}", SOLVERS[solver], fit)


def linear_svc(data):
    matrix = data.matrix("csr", np.float64)

    def fit(tolerance, seed):
        model = LinearSVC(C=1 / (LAMBDA * data.rows), loss="hinge", dual=True, fit_intercept=False,
                          tol=tolerance, max_iter=100_000, random_state=seed)
        seconds, _ = timed(lambda: model.fit(matrix, data.labels))
        return seconds, model.coef_

    return Peer("sklearn LinearSVC", tolerances(1.5), fit)


def sgd(data, layout, loss):
    matrix = data.matrix(layout, np.float32)

    def fit(passes, seed):
        model = SGDClassifier(loss=SGD_LOSS[loss], alpha=LAMBDA, fit_intercept=False, tol=None,
                              max_iter=passes, average=True, random_state=seed)
        seconds, _ = timed(lambda: model.fit(matrix, data.labels))
        return seconds, model.coef_

    return Peer(f"sklearn SGD {layout}", PASSES, fit)
