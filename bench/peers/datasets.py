"""Where the data come from: six public sets, each read the way a Python user would read it.

A loader is timed by the benchmark (see `report.py`, the table with loading
counted), so it does only what is needed: parse the file and map the labels to
±1. Features are float64 here; a peer that wants float32 or another layout
converts outside the timed fit.
"""

import gzip
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file


@dataclass(frozen=True)
class Dataset:
    """One file, and what is to be told about it to a loader and to `hemingway train`."""

    name: str
    file: str
    load: object  # folder -> (X, y), y in {-1, +1}
    flags: tuple = ()  # for `hemingway train`
    layouts: tuple = ("csr",)  # matrix layouts worth offering to the peers


def svmlight(file):
    def load(folder):
        matrix, labels = load_svmlight_file(str(folder / file), zero_based=False)
        return matrix, np.where(labels > 0, 1.0, -1.0)

    return load


def idx(images, labels, positive):
    def load(folder):
        with gzip.open(folder / images) as file:
            pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
        with gzip.open(folder / labels) as file:
            classes = np.frombuffer(file.read(), np.uint8, offset=8)
        return pixels / 255.0, np.where(classes == positive, 1.0, -1.0)

    return load


def csv_label_last(file):
    def load(folder):
        with gzip.open(folder / file, "rt") as text:
            table = np.loadtxt(text, delimiter=",", skiprows=1)
        return table[:, :-1], np.where(table[:, -1] == 1, 1.0, -1.0)

    return load


def idx_set(name):
    images, labels = f"{name}-train-images-idx3-ubyte.gz", f"{name}-train-labels-idx1-ubyte.gz"
    return Dataset(name, images, idx(images, labels, 5), ("--positive", "5"), ("csr", "dense"))


def libsvm_set(name):
    file = f"{name}.libsvm.gz"
    return Dataset(name, file, svmlight(file))


CATALOGUE = [
    idx_set("mnist"),
    libsvm_set("newsgroups20-binary"),
    libsvm_set("a9a"),
    libsvm_set("w8a"),
    idx_set("fashion-mnist"),
    Dataset("higgs-11k", "higgs-11k.csv.gz", csv_label_last("higgs-11k.csv.gz"),
            ("--label", "last", "--no-bias", "--no-standardise"), ("csr", "dense")),
]


def folder():
    """The folder named by HEMINGWAY_DATA, or a clear end of the program."""
    where = os.environ.get("HEMINGWAY_DATA")
    if not where:
        sys.exit("HEMINGWAY_DATA is not set\nhint: export HEMINGWAY_DATA=FOLDER, "
                 "the folder that holds " + ", ".join(d.file for d in CATALOGUE))
    return Path(where)


def select(names):
    """The sets of a comma-separated list; all of them when there is no list."""
    if not names:
        return CATALOGUE
    known = {d.name: d for d in CATALOGUE}
    unknown = [n for n in names.split(",") if n not in known]
    if unknown:
        sys.exit(f"unknown dataset {', '.join(unknown)}\nhint: one of {', '.join(known)}")
    return [known[n] for n in names.split(",")]


class Prepared:
    """A loaded set in every layout and precision a peer may ask for, converted once."""

    def __init__(self, dataset, matrix, labels):
        self.dataset, self.labels = dataset, labels
        self.rows, self.features = matrix.shape
        self._source, self._made = matrix, {}

    def matrix(self, layout="csr", dtype=np.float64):
        key = layout, np.dtype(dtype).name
        if key not in self._made:
            self._made[key] = self._convert(layout, dtype)
        return self._made[key]

    def _convert(self, layout, dtype):
        if layout == "dense":
            dense = self._source.toarray() if sparse.issparse(self._source) else self._source
            return np.ascontiguousarray(dense, dtype=dtype)
        rows = sparse.csr_matrix(self._source, dtype=dtype)
        rows.sort_indices()
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return rows
