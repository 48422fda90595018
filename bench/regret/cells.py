#!/usr/bin/env python3
"""The cells: a problem (dataset, loss, λ), a cluster and an error each.

    bench/regret/cells.py > bench/regret/cells.json

Every dataset is trained once on every cluster. Loss and λ are drawn for each such pair, balanced over everything, with a
fixed seed; each of the three errors then makes a cell.
"""

import json
import math
import random
from collections import Counter

DATASETS = {"a9a": 123, "w8a": 300, "mushrooms": 112, "newsgroups20": 31_257, "higgs": 28, "mnist": 400, "fashion-mnist": 196,
            "spambase": 57, "magic": 10, "satimage": 36, "twonorm": 20, "reuters": 9_103, "california": 8, "adult": 6}  # features
CLUSTERS = ["fast", "slow", "stragglers", "small", "wide-area", "unequal", "large"]
LOSSES = ["hinge", "logistic", "smoothed-hinge", "squared"]
LAMBDAS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
ERRORS = [1e-2, 1e-3, 1e-4]
SEED = 1


def problems():
    """One for each dataset and cluster; no dataset has the same loss and λ twice."""
    rng = random.Random(SEED)
    pairs = [(dataset, cluster) for dataset in DATASETS for cluster in CLUSTERS]
    pairs.sort(key=lambda pair: rng.random())
    used, drawn = Counter(), {}
    for dataset, cluster in pairs:
        free = [(loss, value) for loss in LOSSES for value in LAMBDAS if not used[dataset, loss, value]]
        free.sort(key=lambda each: rng.random())
        loss, value = min(free, key=lambda each: crowding(used, dataset, cluster, *each))
        used.update(margins(dataset, cluster, loss, value) + [(dataset, loss, value)])
        name = f"{dataset}-{loss}-1e{round(math.log10(value))}"
        drawn[dataset, cluster] = {"name": name, "dataset": dataset, "features": DATASETS[dataset], "loss": loss,
                                   "lambda": value, "cluster": cluster}
    return [drawn[dataset, cluster] for dataset in DATASETS for cluster in CLUSTERS]


def crowding(used, dataset, cluster, loss, value):
    """How often its parts were drawn already. Margins of one factor weigh more than those of two."""
    loss_alone, value_alone, *pairs = (used[each] for each in margins(dataset, cluster, loss, value))
    return loss_alone / 4 + value_alone / 5 + sum(pairs)


def margins(dataset, cluster, loss, value):
    return [loss, value, (loss, value), (dataset, loss), (dataset, value), (cluster, loss), (cluster, value)]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(problem) for problem in problems())
    print(f'{{"errors": {json.dumps(ERRORS)}, "problems": [\n{lines}\n]}}')
