"""How `hemingway train` is run and judged.

Two goals: an objective value, P*(1+ε), which is what the peers are timed to;
and a certified relative error ε, which no peer offers and for which P* is
never told. The time is its own `wall_seconds` (training without loading); where
it plans by itself, all that is waited for but loading. The model it leaves is
scored by `objective.py` like everybody's.
"""

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from objective import LAMBDA, primal

MODES = ("objective", "certified")
SPINNING = 0.25  # seconds: threads of the peers' OpenMP wait so long for more work, on the cores that ours needs


@dataclass(frozen=True)
class Entry:
    """One algorithm on a number of workers: what is raced."""

    algorithm: str
    workers: int

    @property
    def name(self):
        return f"{self.algorithm}-{self.workers}"

    @property
    def flags(self):
        return "--algorithm", self.algorithm, "--workers", str(self.workers)


@dataclass(frozen=True)
class Planned:
    """No choice at all: what users type."""

    name = "planned"
    flags = ()


def entries(algorithms, workers):
    return [Entry(a, k) for a in algorithms for k in workers]


class Runner:
    def __init__(self, binary, file, dataset, data, loss, optimum, limit):
        self.binary, self.file, self.flags = binary, file, dataset.flags
        self.data, self.loss, self.optimum, self.limit = data, loss, optimum, limit

    def run(self, entry, mode, epsilon, seed):
        """What one run did, or {"failed": why}."""
        time.sleep(SPINNING)
        with tempfile.TemporaryDirectory() as folder:
            command = self.command(entry, mode, epsilon, seed, Path(folder) / "store")
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                                      timeout=self.limit)
            except subprocess.TimeoutExpired:
                return {"failed": f"over {self.limit:g} s"}
            if done.returncode != 0:
                return {"failed": (done.stderr.strip() or f"exit {done.returncode}")[-300:]}
            said = json.loads(done.stdout)
            return self.judge(said, mode, epsilon, Path(folder)) | waited(entry, said)

    def command(self, entry, mode, epsilon, seed, store):
        goal = (("--objective", repr(float(self.optimum * (1 + epsilon)))) if mode == "objective"
                else ("--error", repr(epsilon)))
        return [str(self.binary), "train", str(self.file), *self.flags,
                "--loss", self.loss, "--lambda", repr(LAMBDA),
                *entry.flags, "--engine", "threads", *goal, "--json", "--seed", str(seed),
                "--store", str(store)]

    def judge(self, said, mode, epsilon, folder):
        objective = self.score(said.get("model"), folder)
        verified = objective is not None
        objective = said["primal"] if objective is None else objective
        certified = said.get("certified_error")
        reached = mode == "objective" or (certified is not None and certified <= epsilon)
        return {"load_seconds": said.get("load_seconds"),
                "error": (objective - self.optimum) / self.optimum, "verified": verified,
                "certified_error": certified, "stop": said.get("stop"), "said_reached": reached}

    def score(self, model, folder):
        """P of the model left behind, in float64; None when there is none."""
        if not model or not (folder / model).exists():
            return None
        weights = np.zeros(self.data.features)
        given = json.loads((folder / model).read_text())["weights"]
        weights[:len(given)] = given
        return primal(self.loss, self.data.matrix(), self.data.labels, weights)


def waited(entry, said):
    """Seconds, and what ran where that was left open."""
    if not isinstance(entry, Planned):
        return {"seconds": said["wall_seconds"]}
    ways = [switch["from"] for switch in said["switches"]] + [said]
    return {"seconds": said["total_seconds"] - said["load_seconds"],
            "choice": ", ".join(f"{way['algorithm']}-{way['workers']}" for way in ways)}
