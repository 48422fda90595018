"""Exported models in onnxruntime beside `hemingway predict`, and our metrics beside scikit-learn's.

Trains a model of each kind on generated data, exports it as ONNX, has onnxruntime and `hemingway predict` predict rows
that took no part, and prints the largest differences. Fails if a difference is larger than 32 bits explain.
"""

import argparse
import csv
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from sklearn import metrics

ROOT = Path(__file__).resolve().parents[2]
# Margins are sums of some terms in 32 bits; relative to the largest margin.
TOLERANCE = 1e-5
# Metrics are computed in 64 bits on both sides.
METRICS_TOLERANCE = 1e-9

# A name, what is drawn, how it is trained, and whether it gives probabilities.
CASES = [
    ("logistic, columns as they are", "classes", ["--no-standardise"], True),
    ("logistic, standardised", "classes", [], True),
    ("logistic, rows of length 1", "classes", ["--standardise", "--normalise", "rows"], True),
    ("hinge", "classes", ["--loss", "hinge", "--bias", "--standardise"], False),
    ("hinge, Platt scaling", "classes", ["--loss", "hinge", "--standardise"], True),
    ("logistic, four classes", "four", ["--bias", "--standardise"], True),
    ("logistic, mixed columns", "mixed", [], True),
    ("squared", "numbers", ["--regression", "--bias", "--standardise"], False),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/hemingway")
    binary = parser.parse_args().binary.resolve()
    print(f"{'model':<32}{'rows':>6}{'margins':>12}{'probabilities':>15}{'labels':>8}{'metrics':>12}")
    wrong = [case[0] for case in CASES if not compare(binary, *case)]
    sys.exit(f"too different: {', '.join(wrong)}" if wrong else 0)


def compare(binary, name, kind, flags, gives_probabilities):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        rows = {file: draw(kind, seed) for seed, file in enumerate(["train.csv", "more.csv", "test.csv"])}
        for file, (x, y) in rows.items():
            write(folder / file, x, y)
        run = runner(binary, folder)
        run("train", "train.csv", "--label", "y", *flags, "--model", "model.json", "--quiet")
        if "Platt" in name:
            run("platt", "model.json", "more.csv", "--label", "y")
        run("export", "model.json", "model.onnx")
        ours = json.loads(run("predict", "model.json", "test.csv", "--label", "y", "--json",
                              *(["--probabilities"] if gives_probabilities else [])))
        figures = json.loads(run("evaluate", "model.json", "test.csv", "--label", "y", "--json"))
        x, y = rows["test.csv"]
        theirs = onnx_outputs(folder / "model.onnx", x)
        margins, probabilities, labels = differences(ours, theirs)
        of_metrics = metric_difference(figures, ours, y)
        print(f"{name:<32}{len(y):>6}{margins:>12.1e}{probabilities:>15.1e}{labels:>8}{of_metrics:>12.1e}")
        return max(margins, probabilities) < TOLERANCE and labels == 0 and of_metrics < METRICS_TOLERANCE


def draw(kind, seed):
    """Columns of very different units and means, some of them related to the label."""
    random = np.random.default_rng(seed)
    weights = np.random.default_rng(100).normal(size=12)
    standard = random.normal(size=(2000, 12)).astype(np.float32)
    margin = standard @ weights + random.normal(size=len(standard))
    scale = np.float32(10.0) ** np.arange(-4, 8, dtype=np.float32)
    x = (standard * scale + scale * 3).astype(np.float32)
    if kind == "mixed":
        return mixed(random, x, margin), np.where(margin > 0, "yes", "no")
    if kind == "four":
        return x, np.array(["north", "east", "south", "west"])[np.digitize(margin, [-3, 0, 3])]
    return x, np.where(margin > 0, "yes", "no") if kind == "classes" else np.round(margin, 3)


def mixed(random, x, margin):
    """Numbers, some of them missing, text with rare and missing levels, and dates, all related to the margin."""
    towns = np.array(["Ulm", "Bonn", "Kiel, north", "Jena", ""])[np.clip(margin + random.normal(size=len(x)) + 2, 0, 4).astype(int)]
    rare = np.where(random.random(len(x)) < 0.01, "Oz", towns)
    sides = np.where(margin + 3 * random.normal(size=len(x)) > 0, "left", "right")
    numbers = np.where(random.random(len(x)) < 0.2, np.nan, x[:, 5])
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(10 * value)) for value in margin]
    return list(zip(x[:, 0], numbers, map(str, rare), map(str, sides), days))


def write(file, x, y):
    with file.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([*(f"x{column}" for column in range(len(x[0]))), "y"])
        table.writerows([*map(cell, row), label] for row, label in zip(x, y))


def cell(value):
    if isinstance(value, (str, datetime.date)):
        return value
    return "" if np.isnan(value) else f"{value:.9g}"


def runner(binary, folder):
    def run(*arguments):
        environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([binary, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"hemingway {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    return run


def onnx_outputs(file, x):
    onnx.checker.check_model(str(file), full_check=True)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    wanted = {given.name for given in session.get_inputs()}
    given = {name: values for name, values in inputs(x).items() if name in wanted}
    return dict(zip(names, session.run(None, given)))


def inputs(x):
    """A value for each column: text as it is, numbers in 32 bits, dates as days."""
    def column(values):
        first = values[0]
        if isinstance(first, datetime.date):
            values = [(value - datetime.date(1970, 1, 1)).days for value in values]
        kind = object if isinstance(first, str) else np.float32
        return np.array(values, dtype=kind).reshape(-1, 1)

    return {f"x{place}": column(list(values)) for place, values in enumerate(zip(*x))}


def differences(ours, theirs):
    """Margins relative to the largest, probabilities as they are, and labels that differ away from the border."""
    ours_margins = np.array(ours["margins"])
    margins = theirs.get("margin", theirs.get("prediction"))
    margins = margins if ours_margins.ndim == 2 else margins[:, 0]
    largest = np.abs(ours_margins).max()
    probabilities = 0.0
    if "probabilities" in theirs:
        both = np.column_stack(list(ours["probabilities"].values()))
        probabilities = np.abs(both - theirs["probabilities"]).max()
    labels = 0
    if "label" in theirs:
        ordered = np.sort(np.column_stack([ours_margins, 0 * ours_margins]) if ours_margins.ndim == 1 else ours_margins)
        clear = ordered[:, -1] - ordered[:, -2] > TOLERANCE * largest
        labels = int((np.array(ours["predictions"]) != theirs["label"])[clear].sum())
    return np.abs(ours_margins - margins).max() / largest, probabilities, labels


def metric_difference(figures, ours, y):
    """The largest difference of a figure of `hemingway evaluate` from scikit-learn's."""
    margins = np.array(ours["margins"])
    if "rmse" in figures:
        y = y.astype(np.float32).astype(float)  # labels are kept in 32 bits
        expected = {
            "rmse": metrics.root_mean_squared_error(y, margins),
            "mae": metrics.mean_absolute_error(y, margins),
            "r_squared": metrics.r2_score(y, margins),
        }
    else:
        classes, predicted = figures["confusion"]["classes"], np.array(ours["predictions"])
        expected = of_two(classes[1], ours, y) if len(classes) == 2 else of_several(classes, ours, y)
        expected["accuracy"] = metrics.accuracy_score(y, predicted)
        table = metrics.confusion_matrix(y, predicted, labels=classes)
        if table.tolist() != figures["confusion"]["counts"]:
            sys.exit(f"the confusion table is {figures['confusion']['counts']}, scikit-learn has {table.tolist()}")
    return max(abs(figures[name] - value) / max(1, abs(value)) for name, value in expected.items())


def of_two(positive, ours, y):
    is_positive, margins = y == positive, np.array(ours["margins"])
    expected = {
        "auc": metrics.roc_auc_score(is_positive, margins),
        "f1": metrics.f1_score(y, np.array(ours["predictions"]), pos_label=positive),
    }
    if "probabilities" in ours:
        expected["log_loss"] = metrics.log_loss(is_positive, np.array(ours["probabilities"][positive]))
    return expected


def of_several(classes, ours, y):
    margins = np.array(ours["margins"])
    probabilities = np.column_stack([ours["probabilities"][name] for name in classes])
    each = [metrics.roc_auc_score(y == name, margins[:, place]) for place, name in enumerate(classes)]
    return {
        "auc": np.mean(each),
        "f1": metrics.f1_score(y, np.array(ours["predictions"]), average="macro"),
        "log_loss": metrics.log_loss(y, probabilities[:, np.argsort(classes)]),
    }


if __name__ == "__main__":
    main()
