"""The example as `hemingway tune` runs it: a configuration in, one answer out.

    python -m unittest
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def train(loads, idle=()):
    """The answer, and what was said on standard error."""
    machines = {name: {"worker": name not in idle, "ps": True, "loads": {"cpu": load}} for name, load in loads.items()}
    done = subprocess.run([sys.executable, HERE / "train.py"], input=json.dumps({"machines": machines}), capture_output=True,
                          text=True, cwd=HERE)
    return json.loads(done.stdout), done.stderr


class Answers(unittest.TestCase):
    def test_an_answer_has_every_worker_and_adds_up(self):
        answer, _ = train({"a": 90, "b": 64, "c": 20, "d": 0}, idle=["b"])
        self.assertEqual(answer["status"], "ok")
        self.assertEqual({name: machine["devices"]["cpu"]["load"] for name, machine in answer["machines"].items()},
                         {"a": 90, "c": 20})
        slowest = max(machine["time"] for machine in answer["machines"].values())
        self.assertGreaterEqual(slowest, 0.045)  # a: 90 inputs of half a millisecond
        self.assertGreaterEqual(answer["time"], slowest)
        self.assertGreaterEqual(answer["communication_time"], 0)
        self.assertLessEqual(answer["communication_time"], answer["time"] - slowest + 1e-9)

    def test_training_does_not_depend_on_the_schedule(self):
        said = {train(loads)[1] for loads in ({"a": 64}, {"a": 33, "b": 31}, {"a": 30, "c": 4, "d": 30})}
        self.assertEqual(len(said), 1, said)

    def test_failures_have_a_reason(self):
        self.assertEqual(train({"x": 64})[0], {"status": "failed", "reason": "there is no machine x; there are a, b, c, d"})
        self.assertEqual(train({"a": 0})[0], {"status": "failed", "reason": "no machine has a load"})

    def test_a_worker_that_fails_is_a_failed_evaluation(self):
        answer, _ = train({"a": 32, "b": 10**13})
        self.assertEqual(answer["status"], "failed")
        self.assertIn("allocate memory", answer["reason"])


if __name__ == "__main__":
    unittest.main()
