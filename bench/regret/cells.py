"""One cell: a problem, a goal and a cluster; what the oracle, the planner and each rival took."""

import math
from dataclasses import dataclass

import oracle
import planner
from rivals import key, preference, rivals, time


@dataclass(frozen=True)
class Cell:
    dataset: str
    loss: str
    error: float
    cluster: str
    oracle: float  # seconds
    choice: str  # of the oracle
    rivals: dict  # name → (seconds, whether the goal was reached)
    answer: dict | None  # the planner's report

    @property
    def planner(self):
        if not self.answer or "failure" in self.answer:
            return math.inf, False
        return planner.seconds(self.answer), bool(self.answer["goal_reached"])

    def record(self):
        """For the file of all cells."""
        return {"dataset": self.dataset, "loss": self.loss, "error": self.error, "cluster": self.cluster,
                "oracle_seconds": self.oracle, "oracle_choice": self.choice, "planner": self.answer,
                "rivals": {name: {"seconds": seconds, "reached": reached} for name, (seconds, reached) in self.rivals.items()}}


def cells(folder, datasets, passes, with_planner, jobs):
    """All cells of the datasets whose tables are whole and whose goals somebody reached."""
    places = [(dataset, loss, goal, cluster)
              for dataset in datasets for loss in oracle.LOSSES if whole(folder, dataset, loss, passes)
              for goal in oracle.GOALS for cluster in oracle.CLUSTERS]
    wanted = {name(*place): (place[0], place[1], place[3], ["--error", place[2]]) for place in places}
    answers = planner.answers(folder, wanted, jobs) if with_planner else {}
    tables = {(dataset.name, loss): oracle.read(folder, dataset.name, loss) for dataset, loss, _, _ in places}
    made = [cell(tables[place[0].name, place[1]], *place, answers.get(name(*place))) for place in places]
    return [cell for cell in made if cell]


def whole(folder, dataset, loss, passes):
    there = {key(line) for line in oracle.read(folder, dataset.name, loss)}
    return there >= {key(wanted) for wanted in oracle.configurations(dataset, loss, passes)}


def name(dataset, loss, goal, cluster):
    return f"{dataset.name}-{loss}-{goal:g}-{cluster}"


def cell(lines, dataset, loss, goal, cluster, answer):
    at = oracle.GOALS.index(goal), oracle.CLUSTERS.index(cluster)
    best = min(lines, key=lambda line: preference(time(line, *at)))
    seconds, reached = time(best, *at)
    if not reached:
        return None
    steps = f", {best['local_steps']} steps" if best["local_steps"] else ""
    return Cell(dataset.name, loss, goal, cluster, seconds, f"{best['algorithm']} × {best['workers']}{steps}",
                rivals(lines, *at, max(oracle.WORKERS)), answer)
