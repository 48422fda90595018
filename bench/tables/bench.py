"""Is a model that was trained with nothing but `--label` as good as that of the pipeline people write by hand?

Each table is divided into folds, the same for both sides; each fold is held back once and predicted by models that were trained
on the others. So every row is predicted once by either side. Printed are the share of rows that are right, or the root of the
mean squared error for quantities. Ours may be less than 1.5 points of accuracy or 2 % of the error worse.
"""

import argparse
import math
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas

import ours
import theirs
from tables import TABLES

POINTS, SHARE = 0.015, 0.02
SEED = 1
MISSING = ["", "NA", "N/A", "?", "nan", "null"]


@dataclass
class Row:
    """A line of the table."""

    table: object
    rows: int
    columns: int
    kinds: str
    ours: float
    theirs: float

    @property
    def difference(self):
        """How much better ours is: in points of accuracy, or as a share of the error."""
        return (self.theirs - self.ours) / self.theirs if self.table.regression else self.ours - self.theirs

    @property
    def holds(self):
        return self.difference >= -(SHARE if self.table.regression else POINTS)


def measure(table, folds, folder):
    text = table.read()
    text.columns = [name.strip() for name in text.columns]
    text.to_csv(folder / "whole.csv", index=False)
    typed = pandas.read_csv(folder / "whole.csv", na_values=MISSING)
    labelled = typed[table.label].notna().to_numpy()
    parts = divided(len(typed), folds)
    right_ours, right_theirs = [], []
    for part in parts:
        held = numpy.zeros(len(typed), bool)
        held[part] = True
        # Rows without a label stay among those to train on, as they stand in the file; none can be asked for.
        training, held = ~held, held & labelled
        text[training].to_csv(folder / "training.csv", index=False)
        text[held].to_csv(folder / "held-back.csv", index=False)
        said, _ = ours.predictions(folder / "training.csv", folder / "held-back.csv", table, folder)
        right_ours += judged(table, said, text[table.label][held])
        said = theirs.predictions(typed[training & labelled], typed[held], table)
        right_theirs += judged(table, said, typed[table.label][held])
    figures = [summary(table, right) for right in (right_ours, right_theirs)]
    return Row(table, len(typed), typed.shape[1] - 1, kinds(table, typed), *figures)


def divided(rows, folds):
    order = list(range(rows))
    random.Random(SEED).shuffle(order)
    return [sorted(order[fold::folds]) for fold in range(folds)]


def judged(table, said, truth):
    """Whether each is right, or the squared error of each."""
    if len(said) != len(truth):
        sys.exit(f"{table.name}: {len(said)} predictions for {len(truth)} rows")
    if table.regression:
        return [(float(one) - float(other)) ** 2 for one, other in zip(said, truth, strict=True)]
    return [float(str(one) == str(other)) for one, other in zip(said, truth, strict=True)]


def summary(table, judged):
    mean = sum(judged) / len(judged)
    return math.sqrt(mean) if table.regression else mean


def kinds(table, typed):
    features = typed.drop(columns=table.label)
    numbers = len([name for name in features.select_dtypes("number").columns if name not in table.dates])
    texts = features.shape[1] - numbers - len(table.dates)
    missing = features.isna().to_numpy().mean()
    classes = "quantity" if table.regression else f"{typed[table.label].nunique()} classes"
    parts = [(numbers, "numbers"), (texts, "text"), (len(table.dates), "date")]
    said = [f"{count} {kind}" for count, kind in parts if count] + ([f"{missing:.1%} missing"] if missing else [])
    return f"{', '.join(said)} → {classes}"


HEADER = ["table", "rows", "columns", "kinds", "ours", "scikit-learn", "difference", "", "package", "licence of the data"]


def cells(row):
    table = row.table
    figure = (lambda value: f"{value:.4g}") if table.regression else (lambda value: f"{value:.2%}")
    unit = f"{100 * row.difference:+.2f} %" if table.regression else f"{100 * row.difference:+.2f} points"
    verdict = "ok" if row.holds else "WORSE"
    return [table.name, str(row.rows), str(row.columns), row.kinds, figure(row.ours), figure(row.theirs), unit, verdict,
            table.package, table.licence]


def markdown(rows):
    lines = [HEADER, ["---"] * len(HEADER), *[cells(row) for row in rows]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of tables, with commas between")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    chosen = [table for table in TABLES if not only or table.name in only]
    rows, failed = [], []
    for table in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(measure(table, options.folds, Path(folder)))
                print("  ".join(cells(rows[-1])[:8]), flush=True)
            except ours.Failed as failure:
                failed.append(table.name)
                print(f"{table.name}  FAILED  {failure}", flush=True)
    if options.markdown:
        options.markdown.write_text(markdown(rows))
    holds = sum(row.holds for row in rows)
    print(f"{holds} of {len(chosen)} tables within {100 * POINTS:g} points of accuracy or {SHARE:.0%} of the error")
    sys.exit(0 if holds == len(chosen) else 1)


if __name__ == "__main__":
    main()
