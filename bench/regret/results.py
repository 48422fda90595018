"""What was measured: for each cell the oracle, the rivals and the runs of the planner; and the deadlines."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from rivals import column, last_seconds, preference, rivals, time

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Cell:
    problem: dict  # name, dataset, features, loss, lambda, cluster
    error: float
    oracle: float  # seconds
    choice: str  # of the oracle
    doubtful: bool  # whether a fixed run was given up that might have been faster
    rivals: dict  # name → (seconds, whether the goal was reached)
    reports: dict  # variant → report

    def name(self):
        return f"{self.problem['name']}, {self.problem['cluster']}, {self.error:g}"

    def planner(self, variant):
        """Seconds, all overhead included, and whether the goal was reached."""
        report = self.reports.get(variant, {})
        return report.get("total_seconds", math.inf), bool(report.get("goal_reached"))

    def record(self):
        return {**self.problem, "error": self.error, "oracle_seconds": self.oracle, "oracle_choice": self.choice,
                "oracle_doubtful": self.doubtful, "planner": self.reports,
                "rivals": {name: {"seconds": seconds, "reached": reached} for name, (seconds, reached) in self.rivals.items()}}


def read(folder):
    """All cells, the deadlines, and how many cells no fixed configuration reached."""
    asked = json.loads((HERE / "cells.json").read_text())
    answers = {(answer["problem"], answer["cluster"], answer["error"], answer["variant"]): answer
               for answer in json_lines(folder / "plans.jsonl")}
    cells, deadlines, unreached = [], [], 0
    for problem in asked["problems"]:
        lines = [line for line in json_lines(folder / "tables" / f"{problem['name']}.jsonl")
                 if problem["cluster"] in line["reached"]]
        if lines:
            found = [cell(problem, error, lines, answers) for error in asked["errors"]]
            unreached += found.count(None)
            cells += [each for each in found if each]
            answer = answers.get((problem["name"], problem["cluster"], None, "deadline"))
            deadlines += [deadline(problem, answer, lines)] if answer else []
    return cells, deadlines, unreached


def json_lines(path):
    """The lines of a file that are whole; none if there is no file."""
    lines = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # a call that was killed may have left the start of a line
    return lines


def cell(problem, error, lines, answers):
    """Nothing if no fixed configuration reached the goal."""
    cluster = problem["cluster"]
    best = min(lines, key=lambda line: preference(time(line, error, cluster)))
    seconds, reached = time(best, error, cluster)
    if not reached:
        return None
    doubtful = any(line["stop"] == "patience" and not time(line, error, cluster)[1] and last_seconds(line, cluster) < seconds
                   for line in lines)
    steps = f", {best['local_steps']} steps" if best["local_steps"] else ""
    reports = {variant: answer["report"] for (*key, variant), answer in answers.items()
               if key == [problem["name"], cluster, error]}
    return Cell(problem, error, seconds, f"{best['algorithm']} × {best['workers']}{steps}", doubtful,
                rivals(lines, error, cluster, problem["features"]), reports)


def deadline(problem, answer, lines):
    """Gaps: how far the objective is above the best lower bound known, relative to that bound."""
    floor = max(line["dual"] for line in lines)
    best = min(objective_at(line, answer["within"], problem["cluster"]) for line in lines)
    report = answer["report"]
    return {**problem, "seconds": answer["within"], "oracle_gap": best / floor - 1,
            "planner_gap": report.get("primal", math.inf) / floor - 1, "planner_seconds": report.get("total_seconds", math.inf),
            "failure": report.get("failure")}


def objective_at(line, seconds, cluster):
    """The objective of the last scored round within the time."""
    at = column(line, cluster)
    return min((point[2] for point in line["points"] if point[at] <= seconds * (1 + 1e-9)), default=math.inf)
