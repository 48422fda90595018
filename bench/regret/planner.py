"""The planner under test: `hemingway train` with a goal and a cluster, and nothing else.

Each answer is kept in FOLDER/planner, so that an interrupted benchmark goes on. Remove that folder after a change of the
planner; the oracle's tables stay.
"""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import oracle

HEMINGWAY = os.environ.get("HEMINGWAY", str(oracle.TARGET / "hemingway"))


def answers(folder, wanted, jobs):
    """What the planner did for each of `wanted`: name → (dataset, loss, cluster, goal flags)."""
    (folder / "planner").mkdir(exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(wanted, pool.map(lambda name: answer(folder, name, *wanted[name]), wanted)))


def answer(folder, name, dataset, loss, cluster, goal):
    path = folder / "planner" / f"{name}.json"
    if not path.exists():
        path.write_text(json.dumps(train(dataset, loss, cluster, goal)))
    return json.loads(path.read_text())


def train(dataset, loss, cluster, goal):
    """The report of one run, an empty store each time: what was learnt in one cell does not help in the next."""
    with tempfile.TemporaryDirectory() as place:
        command = ["nice", HEMINGWAY, "train", dataset.source(), *dataset.flags(), "--loss", loss,
                   "--lambda", oracle.LAMBDA, "--seed", oracle.SEED, *goal, "--engine", "simulated",
                   "--cluster", oracle.cluster_file(cluster), "--json", "-q",
                   "--store", f"{place}/store.sqlite", "--model", f"{place}/model"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return {"failure": done.stderr.strip()}
    return json.loads(done.stdout)


def seconds(report):
    """All that the user waited for, planning and pilots included."""
    return report.get("total_seconds", report.get("seconds"))
