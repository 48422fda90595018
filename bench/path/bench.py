"""Choosing λ: `hemingway train --lambda …` beside scikit-learn's LogisticRegressionCV on the same folds and grid.

Both get the same rows, the same folds (a file for ours, a list of index pairs for theirs) and the same λ, as C = 1/(λ n) with
the rows n that a fold is trained on, no intercept, and choose by the log-loss on rows held out. Theirs is timed around `fit` on
data that is in memory; ours counts everything but loading: folds, planning, all models, and training on all rows.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

import datasets

FOLDS = 5
# As LogisticRegressionCV has it by default: ten C from 1e-4 to 1e4.
THEIR_CS = np.logspace(-4, 4, 10)
# solver -> the most features it is tried with; the first is the default.
SOLVERS = {"lbfgs": None, "newton-cg": None, "liblinear": None, "newton-cholesky": 1000}


def mushrooms(folder):
    """Its classes are 1 and 2."""
    matrix, labels = load_svmlight_file(str(folder / "mushrooms.libsvm.gz"), zero_based=False)
    return matrix, np.where(labels == labels.max(), 1.0, -1.0)


DATASETS = [
    datasets.libsvm_set("a9a"),
    datasets.libsvm_set("w8a"),
    datasets.Dataset("mushrooms", "mushrooms.libsvm.gz", mushrooms),
    datasets.libsvm_set("newsgroups20-binary"),
    next(d for d in datasets.CATALOGUE if d.name == "higgs-11k"),
]


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    rows = []
    for data in DATASETS:
        if options.only and data.name not in options.only.split(","):
            continue
        for grid in options.grids.split(","):
            rows.append(compare(data, grid, options))
            print_row(rows[-1])
    (HERE / options.out).write_text(json.dumps(rows, indent=1) + "\n")
    table = markdown(rows)
    (HERE / options.out).with_suffix(".md").write_text(table)
    print("\n" + table)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(HERE.parent.parent / "target/release/hemingway"))
    parser.add_argument("--only", help="names of datasets, with commas between them")
    parser.add_argument("--grids", default="theirs,ours", help="theirs: ten C from 1e-4 to 1e4; ours: --lambda auto")
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="of scikit-learn")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="n_jobs of scikit-learn, beside its default")
    parser.add_argument("--out", default="results.json")
    return parser.parse_args()


def compare(data, grid, options):
    matrix, labels = data.load(datasets.folder())
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(matrix, labels))
    trained_on = len(labels) * (FOLDS - 1) / FOLDS
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(data, labels, splits, Path(folder), options.binary)
        if grid == "theirs":
            lambdas = sorted((1 / (THEIR_CS * trained_on)).tolist(), reverse=True)
        else:
            lambdas = [point["lambda"] for point in ours.run("auto")["lambda_choice"]["points"]]
        theirs = peers(matrix, labels, splits, lambdas, trained_on, options)
        text = ",".join(f"{value:.10e}" for value in lambdas)
        results = {name: [] for name in ["ours", *theirs]}
        for _ in range(options.repeats):
            results["ours"].append(ours.run(text))
            for name, fit in theirs.items():
                results[name].append(fit())
    return {
        "dataset": data.name,
        "grid": grid,
        "lambdas": lambdas,
        "ours": of_ours(results.pop("ours")),
        "theirs": {name: of_theirs(runs, lambdas) for name, runs in results.items()},
    }


class Ours:
    """`hemingway train` with folds from a file."""

    def __init__(self, data, labels, splits, folder, binary):
        self.data, self.folder, self.binary = data, folder, binary
        folds = np.zeros(len(labels), int)
        for number, (_, held_out) in enumerate(splits):
            folds[held_out] = number
        (folder / "folds").write_text("".join(f"{fold}\n" for fold in folds))

    def run(self, lambdas):
        time.sleep(0.3)  # until threads that joblib leaves spinning sleep
        file = datasets.folder() / self.data.file
        command = [self.binary, "train", str(file), *self.data.flags, "--lambda", lambdas, "--quiet", "--json",
                   "--fold-file", str(self.folder / "folds"), "--store", str(self.folder / "store.sqlite")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)


def peers(matrix, labels, splits, lambdas, trained_on, options):
    """Functions that fit: the default, and each solver on several jobs."""
    given = [1 / (value * trained_on) for value in lambdas]

    def fit(solver, jobs):
        def run():
            model = LogisticRegressionCV(Cs=sorted(given), cv=splits, fit_intercept=False, solver=solver,
                                         scoring="neg_log_loss", n_jobs=jobs, l1_ratios=(0,),
                                         use_legacy_attributes=False)
            begun = time.perf_counter()
            model.fit(matrix, labels)
            return time.perf_counter() - begun, model
        return run

    found = {"default": fit("lbfgs", None)}
    for solver in options.solvers.split(","):
        most = SOLVERS[solver]
        if most is None or matrix.shape[1] <= most:
            found[f"{solver}, {options.jobs} jobs"] = fit(solver, options.jobs)
    return found


def of_ours(runs):
    choice = runs[0]["lambda_choice"]
    return {
        "seconds": statistics.median(run["total_seconds"] - run["load_seconds"] for run in runs),
        "choosing_seconds": statistics.median(run["lambda_choice"]["seconds"] for run in runs),
        "lambda": choice["lambda"],
        "loss": choice["mean"],
        "curve": [point["loss"]["mean"] for point in choice["points"]],
    }


def of_theirs(runs, lambdas):
    seconds = statistics.median(seconds for seconds, _ in runs)
    model = runs[0][1]
    # Their scores are by rising C, which is falling λ, as ours are.
    scores = -np.asarray(model.scores_).reshape(FOLDS, -1).mean(axis=0)
    best = int(np.argmin(scores))
    return {"seconds": seconds, "lambda": lambdas[best], "loss": float(scores[best]), "curve": scores.tolist()}


def best_peer(row):
    """The fastest peer whose best loss is within 1 % (and 1e-4) of the best one found."""
    least = min(peer["loss"] for peer in row["theirs"].values())
    sound = {name: peer for name, peer in row["theirs"].items() if peer["loss"] <= 1.01 * least + 1e-4}
    return min(sound.items(), key=lambda item: item[1]["seconds"])


def print_row(row):
    line = ", ".join(f"{name} {peer['seconds']:.2f} s" for name, peer in row["theirs"].items())
    print(f"{row['dataset']} ({row['grid']} grid): ours {row['ours']['seconds']:.2f} s; {line}", flush=True)


def markdown(rows):
    text = "| dataset | grid | ours | default | ratio | best peer | | ratio | λ ours, default | log-loss ours, default |\n"
    text += "|---|---|---:|---:|---:|---|---:|---:|---|---|\n"
    for row in rows:
        ours, default = row["ours"], row["theirs"]["default"]
        name, best = best_peer(row)
        text += (f"| {row['dataset']} | {row['grid']}, {len(row['lambdas'])} λ | {ours['seconds']:.2f} s "
                 f"| {default['seconds']:.2f} s | {ours['seconds'] / default['seconds']:.2f} "
                 f"| {name} | {best['seconds']:.2f} s | {ours['seconds'] / best['seconds']:.2f} "
                 f"| {ours['lambda']:.1e}, {default['lambda']:.1e} | {ours['loss']:.5f}, {default['loss']:.5f} |\n")
    return text


if __name__ == "__main__":
    main()
