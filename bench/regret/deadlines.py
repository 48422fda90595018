"""The other goal: the best model within a time: a quarter more than the oracle needs for a certified error of 1e-3.

What counts is how far the objective is above the best lower bound in the table, relative to that bound.
"""

import math

import oracle
import planner

GOAL = 1e-3
LONGER = 1.25  # so that the end of the oracle's last round is not the deadline itself


def deadlines(folder, cells, jobs):
    """One record for each problem and cluster: the gap of the planner and that of the best fixed configuration."""
    chosen = [cell for cell in cells if cell.error == GOAL]
    datasets = {dataset.name: dataset for dataset in oracle.DATASETS}
    wanted = {f"{cell.dataset}-{cell.loss}-deadline-{cell.cluster}":
              (datasets[cell.dataset], cell.loss, cell.cluster, ["--within", f"{LONGER * cell.oracle:.6f}s"]) for cell in chosen}
    reports = planner.answers(folder, wanted, jobs)
    return [record(folder, cell, report) for cell, report in zip(chosen, reports.values())]


def record(folder, cell, report):
    lines = oracle.read(folder, cell.dataset, cell.loss)
    floor = max(point[3] for line in lines for point in line["points"])
    seconds = LONGER * cell.oracle
    best = min(objective_at(line, seconds, oracle.CLUSTERS.index(cell.cluster)) for line in lines)
    failed = "failure" in report
    return {"dataset": cell.dataset, "loss": cell.loss, "cluster": cell.cluster, "seconds": seconds,
            "oracle_gap": best / floor - 1,
            "planner_gap": math.inf if failed else report["primal"] / floor - 1,
            "planner_seconds": math.inf if failed else planner.seconds(report)}


def objective_at(line, seconds, cluster):
    """The objective of the last scored round within the time."""
    return min((point[2] for point in line["points"] if point[4 + cluster] <= seconds * (1 + 1e-9)), default=math.inf)
