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
    told: dict | None  # the report of `hemingway train` when it is told the oracle's choice

    @property
    def planner(self):
        return outcome(self.answer)

    @property
    def as_told(self):
        return outcome(self.told)

    def record(self):
        """For the file of all cells."""
        return {"dataset": self.dataset, "loss": self.loss, "error": self.error, "cluster": self.cluster,
                "oracle_seconds": self.oracle, "oracle_choice": self.choice,
                "oracle_choice_scored_as_usual": self.as_told[0] if self.told else None, "planner": self.answer,
                "rivals": {name: {"seconds": seconds, "reached": reached} for name, (seconds, reached) in self.rivals.items()}}


def outcome(answer):
    if not answer or "failure" in answer:
        return math.inf, False
    return planner.seconds(answer), bool(answer["goal_reached"])


def cells(folder, datasets, passes, with_planner, jobs):
    """All cells of the datasets whose tables are whole and whose goals somebody reached."""
    tables = {(dataset.name, loss): oracle.read(folder, dataset.name, loss)
              for dataset in datasets for loss in oracle.LOSSES if whole(folder, dataset, loss, passes)}
    places = [(dataset, loss, goal, cluster) for dataset in datasets for loss in oracle.LOSSES
              if (dataset.name, loss) in tables for goal in oracle.GOALS for cluster in oracle.CLUSTERS]
    best = {name(*place): fixed(tables[place[0].name, place[1]], *place[2:]) for place in places}
    places = [place for place in places if best[name(*place)]]
    answers, told = asked(folder, places, best, jobs) if with_planner else ({}, {})
    return [cell(tables[place[0].name, place[1]], *place, answers.get(name(*place)), told.get(told_name(*place)))
            for place in places]


def asked(folder, places, best, jobs):
    """What `hemingway train` did by itself, and when it was told the oracle's choice."""
    goals = {place: (place[0], place[1], place[3], ["--error", place[2]]) for place in places}
    alone = {name(*place): goal for place, goal in goals.items()}
    told = {told_name(*place): (*goal[:3], goal[3] + flags(best[name(*place)])) for place, goal in goals.items()}
    return planner.answers(folder, alone, jobs), planner.answers(folder, told, jobs)


def flags(line):
    local = ["--local-steps", line["local_steps"]] if line["local_steps"] else []
    return ["--algorithm", line["algorithm"], "--workers", line["workers"], *local]


def whole(folder, dataset, loss, passes):
    there = {key(line) for line in oracle.read(folder, dataset.name, loss)}
    return there >= {key(wanted) for wanted in oracle.configurations(dataset, passes)}


def name(dataset, loss, goal, cluster):
    return f"{dataset.name}-{loss}-{goal:g}-{cluster}"


def told_name(*place):
    return name(*place) + "-told"


def fixed(lines, goal, cluster):
    """The line of the best fixed configuration; nothing if none reached the goal."""
    at = oracle.GOALS.index(goal), oracle.CLUSTERS.index(cluster)
    best = min(lines, key=lambda line: preference(time(line, *at)))
    return best if time(best, *at)[1] else None


def cell(lines, dataset, loss, goal, cluster, answer, told):
    at = oracle.GOALS.index(goal), oracle.CLUSTERS.index(cluster)
    best = fixed(lines, goal, cluster)
    steps = f", {best['local_steps']} steps" if best["local_steps"] else ""
    choice = f"{best['algorithm']} × {best['workers']}{steps}"
    others = rivals(lines, *at, max(oracle.WORKERS))
    seconds = min(time(best, *at)[0], outcome(told)[0])  # either may have scored a round that the other did not
    return Cell(dataset.name, loss, goal, cluster, seconds, choice, others, answer, told)
