"""The simulator inside the `hemingway` program, and our tuner on it."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HEMINGWAY_PROGRAM", str(ROOT / "target/release/hemingway"))


def experiments():
    return tune("list").split()


def describe(experiment):
    """Batch, machines, and the seconds of the best and of the uniform schedule."""
    return json.loads(tune(experiment, "--describe"))


def our_tuner(experiment, seed, evaluations):
    """After each evaluation, the exact seconds of the schedule that `hemingway tune` would choose."""
    answer = json.loads(tune(experiment, "--evaluations", str(evaluations), "--seed", str(seed), "--json"))
    return [evaluation["best_exact"] for evaluation in answer["evaluations"]]


def tune(experiment, *words):
    command = [PROGRAM, "tune", "--simulate", experiment, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or f'exit {done.returncode}'}")
    return done.stdout


class Simulator:
    """Answers with noisy seconds, and keeps the exact ones for the score."""

    def __init__(self, experiment, seed):
        command = [PROGRAM, "tune", "--simulate", experiment, "--serve", "--seed", str(seed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def seconds(self, configuration):
        """What a tuner may know: seconds as measured; None if the evaluation failed."""
        self.process.stdin.write(json.dumps(configuration) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)}: ended without an answer")
        answer = json.loads(line)
        self.answers.append(answer)
        return answer["time"] if answer["status"] == "ok" else None

    def chosen(self):
        """After each evaluation, the exact seconds of the schedule that was measured best; None as long as all failed."""
        best, chosen = None, []
        for answer in self.answers:
            if answer["status"] == "ok" and (best is None or answer["time"] < best["time"]):
                best = answer
            chosen.append(best and best["exact"])
        return chosen
