"""Several classes beside scikit-learn: is each class against the rest the problem that OneVsRestClassifier solves?

Both train on the same rows; one function in float64 says what objective each class has, P(w) = (1/n) Σ φ(x_i·w, y_i) +
(λ/2)‖w‖² with y = +1 for the class and −1 for the rest. scikit-learn has it with C = 1/(λn). Ours is certified to 1e-8. They
agree where the objective of every class does to 1e-6 and all rows are predicted alike.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parents[2]
LAMBDAS = (1e-1, 1e-3)
AGREE = 1e-6
TOLERANCE = 1e-10
DATA = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


def standard(rows):
    """Columns of mean 0 and deviation 1, rounded to the 32-bit numbers that we store."""
    deviation = rows.std(0)
    return ((rows - rows.mean(0)) / np.where(deviation > 0, deviation, 1)).astype(np.float32).astype(float)


def objective(loss, lam, rows, targets, weights, bias):
    margins = targets * (rows @ weights + bias)
    losses = np.maximum(0, 1 - margins) if loss == "hinge" else np.logaddexp(0, -margins)
    return losses.mean() + lam / 2 * weights @ weights


def theirs(loss, lam, rows, labels, bias):
    strength = 1 / (lam * len(labels))
    if loss == "hinge":
        one = LinearSVC(loss="hinge", C=strength, tol=1e-7, max_iter=10_000_000, fit_intercept=False)
    else:
        one = LogisticRegression(C=strength, solver="newton-cholesky", tol=TOLERANCE, max_iter=10_000, fit_intercept=bias)
    found = OneVsRestClassifier(one).fit(rows, labels)
    blocks = [(np.ravel(each.coef_), np.ravel(each.intercept_)[0] if bias else 0.0) for each in found.estimators_]
    return blocks, found.predict(rows)


def write(path, rows, labels):
    with path.open("w") as file:
        print(",".join([f"x{at}" for at in range(rows.shape[1])] + ["y"]), file=file)
        for row, label in zip(rows, labels):
            print(",".join([repr(float(value)) for value in row] + [str(label)]), file=file)


def ours(binary, loss, lam, rows, labels, bias):
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "data.csv", Path(folder) / "model.json"
        write(data, rows, labels)
        flags = ["--label", "y", "--loss", loss, "--lambda", repr(lam), "--error", "1e-8", "--quiet"]
        flags += ["--algorithm", "newton", "--workers", "1"]
        flags += ["--store", str(Path(folder) / "store.sqlite"), "--model", str(model)]
        flags += ["--no-standardise", "--bias" if bias else "--no-bias"]
        done = subprocess.run([binary, "train", data, *flags], capture_output=True, text=True, check=False)
        if not model.exists():
            raise RuntimeError(done.stderr.strip())
        predict = [binary, "predict", model, data, "--label", "y"]
        said = subprocess.run(predict, capture_output=True, text=True, check=True).stdout.split()
        found = json.loads(model.read_text())
    blocks = [(np.array(each["weights"]), each["bias"] or 0.0) for each in found["classes"]]
    return blocks, np.array(said, dtype=labels.dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=ROOT / "target/release/hemingway", help="the program to compare")
    parser.add_argument("--only", choices=DATA, help="one dataset")
    given = parser.parse_args()
    print("| data | loss | lambda | bias | classes | largest ours / theirs − 1 | rows predicted alike | |")
    print("|---|---|---|---|---|---|---|---|")
    agree = True
    for name, load in DATA.items():
        if given.only not in (None, name):
            continue
        rows, labels = load(return_X_y=True)
        rows = standard(rows)
        for loss in "logistic", "hinge":
            for lam in LAMBDAS:
                # A support vector machine of theirs penalises its intercept, or has kernels of 32 bits.
                for bias in (False,) if loss == "hinge" else (False, True):
                    their_blocks, their_labels = theirs(loss, lam, rows, labels, bias)
                    our_blocks, our_labels = ours(given.binary, loss, lam, rows, labels, bias)
                    off = 0.0
                    for kind, mine, other in zip(np.unique(labels), our_blocks, their_blocks, strict=True):
                        targets = np.where(labels == kind, 1.0, -1.0)
                        reached, best = (objective(loss, lam, rows, targets, *block) for block in (mine, other))
                        off = max(off, reached / best - 1, key=abs)
                    alike = (our_labels == their_labels).mean()
                    fine = abs(off) <= AGREE and alike == 1
                    agree &= fine
                    print(f"| {name} | {loss} | {lam:g} | {'yes' if bias else 'no'} | {len(our_blocks)} | {off:+.1e} "
                          f"| {100 * alike:.2f} % | {'agree' if fine else 'DIFFER'} |", flush=True)
    print(f"\n{'All agree' if agree else 'Some differ'}: objectives within {AGREE:g}.")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
