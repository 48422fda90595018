"""The oracle: every fixed configuration of every problem, each trained once and timed on all clusters.

Tables are lines of JSON, one per configuration, in FOLDER/table/DATASET-LOSS.jsonl. What is in a line is told in README.md.
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")) / "release"
CLUSTERS = ["fast", "slow", "stragglers"]
LOSSES = ["hinge", "logistic"]
GOALS = [1e-2, 1e-3, 1e-4]
LAMBDA = 1e-4
SEED = 0
WORKERS = [1, 8, 32, 4, 16, 64, 2]  # the ends and the middle first: good times early cut the others short
LOCAL = ["cocoa", "cocoa-plus", "local-sgd"]  # those whose local work can be chosen, where there is more than one worker
ALGORITHMS = ["newton", "l-bfgs", "cocoa", "cocoa-plus", "local-sgd", "minibatch-sgd", "gradient-descent"]
FIRST = ("cocoa", 1)  # reaches every goal, so it bounds whatever follows
FACTOR = 2  # a run has lost after this many times the best time
BASELINES = [("cocoa", 1), ("cocoa-plus", 64)]  # rivals by themselves, so they may take longer
BASELINE_FACTOR = 100
MOST_NEWTON_FEATURES = 1000


@dataclass(frozen=True)
class Dataset:
    name: str
    file: str  # in the folder of data, or a generator
    rows: int
    features: int
    positive: str | None = None
    label_last: bool = False

    def source(self):
        return self.file if ":" in self.file else str(Path(os.environ["HEMINGWAY_DATA"]) / self.file)

    def flags(self):
        """For `hemingway train`."""
        return ["--positive", self.positive] * bool(self.positive) + ["--label", "last"] * self.label_last


DATASETS = [  # small ones first
    Dataset("mushrooms", "mushrooms.libsvm.gz", 8_124, 112),
    Dataset("higgs", "higgs-11k.csv.gz", 10_984, 28, label_last=True),
    Dataset("a9a", "a9a.libsvm.gz", 32_561, 123),
    Dataset("separable", "synthetic:separable,rows=10000,features=100", 10_000, 100),
    Dataset("text", "synthetic:text,rows=20000,features=10000", 20_000, 10_000),
    Dataset("w8a", "w8a.libsvm.gz", 49_749, 300),
    Dataset("newsgroups20", "newsgroups20-binary.libsvm.gz", 11_293, 31_257),
    Dataset("mnist", "mnist-train-images-idx3-ubyte.gz", 60_000, 784, positive="5"),
    Dataset("fashion-mnist", "fashion-mnist-train-images-idx3-ubyte.gz", 60_000, 784, positive="5"),
]


def complete(folder, datasets, passes, patience, jobs):
    """Trains what is not yet in the tables of these datasets."""
    (folder / "table").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(lambda of: complete_one(folder, *of, passes, patience),
                          [(dataset, loss) for dataset in datasets for loss in LOSSES]):
            pass


def complete_one(folder, dataset, loss, passes, patience):
    request = folder / "table" / f"{dataset.name}-{loss}.request.json"
    request.write_text(json.dumps({
        "data": dataset.source(), "label_last": dataset.label_last, "positive": dataset.positive, "loss": loss,
        "lambda": LAMBDA, "seed": SEED, "clusters": [str(cluster_file(name)) for name in CLUSTERS], "goals": GOALS,
        "configurations": configurations(dataset, passes), "patience": patience,
    }))
    program = TARGET / "examples" / "regret_table"
    subprocess.run(["nice", str(program), str(request), str(table(folder, dataset.name, loss))], check=True)
    request.unlink()


def configurations(dataset, passes):
    """All of them; those with other local work than one pass come last."""
    tried = [(share, algorithm, workers) for share in passes for algorithm in ALGORITHMS for workers in WORKERS
             if makes_sense(dataset, algorithm) and (share == 1 or (algorithm in LOCAL and workers > 1))]
    tried.sort(key=lambda one: one != (1, *FIRST))
    return [configuration(dataset, algorithm, workers, share) for share, algorithm, workers in tried]


def makes_sense(dataset, algorithm):
    return algorithm != "newton" or dataset.features <= MOST_NEWTON_FEATURES


def configuration(dataset, algorithm, workers, share):
    baseline = share == 1 and (algorithm, workers) in BASELINES
    return {"algorithm": algorithm, "workers": workers,
            "local_steps": None if share == 1 else max(1, round(share * dataset.rows / workers)),
            "factor": BASELINE_FACTOR if baseline else FACTOR}


def table(folder, name, loss):
    return folder / "table" / f"{name}-{loss}.jsonl"


def cluster_file(name):
    return HERE / f"{name}.toml"


def read(folder, name, loss):
    """The lines of a table, or nothing if there is none."""
    path = table(folder, name, loss)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def unfinished(lines):
    """How many runs were given up while they were still faster than the best one somewhere."""
    at_last_goal = [line["reached"][-1] for line in lines if line["reached"][-1]]
    best = [min(seconds) for seconds in zip(*at_last_goal)] or [float("inf")] * len(CLUSTERS)
    return sum(line["stop"] == "patience" and any(seconds < bound for seconds, bound in zip(line["points"][-1][4:], best))
               for line in lines)
