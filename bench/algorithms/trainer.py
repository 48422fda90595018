"""Runs of `hemingway train` on the simulated engine, each made once."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEMINGWAY = Path(os.environ.get("HEMINGWAY", ROOT / "target/release/hemingway"))
CLUSTER = "bench/algorithms/cluster.toml"
GOAL_REACHED, NOT_REACHED = 0, 3


class Trainer:
    """Makes runs, and keeps what came of them in a folder, by command."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "runs.jsonl"
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.known = {line["command"]: line for line in map(json.loads, lines)}

    def run(self, *flags):
        """One run: its report, and a point for each scored round."""
        command = command_of(flags)
        if command not in self.known:
            line = {"command": command, **self.make(flags)}
            with self.file.open("a") as kept:
                kept.write(json.dumps(line) + "\n")
            self.known[command] = line
            print(f"{line['report']['rounds']:>7} rounds, {line['report']['stop']:<9} {command}", file=sys.stderr, flush=True)
        return self.known[command]

    def make(self, flags):
        store = self.folder / "store.sqlite"
        report = self.json(["train", *expanded(flags), "--store", store, "--json", "--quiet"])
        points = self.json(["show", report["run"], "--store", store, "--json"])["points"]
        subprocess.run([HEMINGWAY, "runs", "rm", report["run"], "--store", store], capture_output=True)
        kept = ("round", "iterations", "epochs", "bytes_per_worker", "seconds", "primal", "current", "certified_error")
        return {"report": {name: value for name, value in report.items() if not isinstance(value, (list, dict))},
                "dataset": {name: report["dataset"][name] for name in ("rows", "features", "nonzeros")},
                "points": [{name: point[name] for name in kept} for point in points]}

    def json(self, words):
        done = subprocess.run([str(word) for word in [HEMINGWAY, *words]], capture_output=True, text=True, cwd=ROOT)
        if done.returncode not in (GOAL_REACHED, NOT_REACHED):
            sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
        return json.loads(done.stdout)

    def refusal(self, *flags):
        """What is said instead of a run."""
        done = subprocess.run([str(word) for word in [HEMINGWAY, "train", *expanded(flags)]], capture_output=True, text=True,
                              cwd=ROOT)
        return done.returncode, done.stderr.strip()

    def optimum(self, *flags):
        """A lower bound on the best objective, no further than 1e-9 of it."""
        for algorithm, rounds in (("newton", 100), ("l-bfgs", 5000)):
            if algorithm == "newton" and self.run(*flags, "--algorithm", "l-bfgs", "--workers", 1, "--rounds", 1)["dataset"]["features"] > 500:
                continue
            run = self.run(*flags, "--algorithm", algorithm, "--workers", 1, "--error", "1e-9", "--rounds", rounds)
            if run["report"]["goal_reached"]:
                return run["report"]["dual"]
        sys.exit(f"no optimum of {command_of(flags)}")


def command_of(flags):
    return " ".join(map(str, flags))


def expanded(flags):
    """The data comes from HEMINGWAY_DATA, and machines are those of the page."""
    folder = Path(os.environ["HEMINGWAY_DATA"])
    data, *rest = flags
    return [folder / data, *rest, "--engine", "simulated", "--cluster", CLUSTER]


def errors(run, optimum, value="primal"):
    """(point, relative error) for each scored round."""
    return [(point, max(point[value] / optimum - 1, 1e-16)) for point in run["points"] if point[value] is not None]
