"""snapML on one and two threads: its SupportVectorMachine and LogisticRegression.

Its objective is Σ φ + (regularizer/2)‖w‖², so regularizer = λn. Data are float32,
as it wants them, in CSR and (where the set is dense enough) as an array. The
ladder is `max_iter` with a tolerance that never stops it: a finer choice than
its own stopping rule would allow.
"""

import numpy as np
from snapml import LogisticRegression, SupportVectorMachine

from objective import LAMBDA
from peer import PASSES, Peer, timed

FORMS = {
    "hinge": [("", SupportVectorMachine, {})],
    "logistic": [("", LogisticRegression, {"dual": True}),
                 (" primal", LogisticRegression, {"dual": False})],
}


def peers(data, loss):
    return [peer(data, layout, threads, *form)
            for form in FORMS[loss] for layout in data.dataset.layouts for threads in (1, 2)]


def peer(data, layout, threads, suffix, kind, options):
    matrix = data.matrix(layout, np.float32)

    def fit(passes, seed):
        model = kind(max_iter=passes, tol=1e-12, regularizer=LAMBDA * data.rows, n_jobs=threads,
                     fit_intercept=False, random_state=seed, **options)
        seconds, _ = timed(lambda: model.fit(matrix, data.labels))
        return seconds, model.coef_

    return Peer(f"snapML-{threads}{suffix} {layout}", PASSES, fit)
