"""The encodings, and the driver against the stand-in.

    .venv/bin/python -m unittest
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from encoding import Boolean, Count, PerMachine, PerType, shares, start
from rivals import CATALOGUE as RIVALS

HERE = Path(__file__).resolve().parent
CLUSTER = {"batch": 1000, "machines": [
    {"name": "g-1", "type": "g", "devices": ["cpu", "gpu"]}, {"name": "g-2", "type": "g", "devices": ["cpu", "gpu"]},
    {"name": "m-1", "type": "m", "devices": ["cpu"]}, {"name": "m-2", "type": "m", "devices": ["cpu"]},
    {"name": "m-3", "type": "m", "devices": ["cpu"]}]}


def loads(configuration):
    return {name: machine["loads"] for name, machine in configuration["machines"].items()}


def workers(configuration):
    return [name for name, machine in configuration["machines"].items() if machine["worker"]]


def servers(configuration):
    return [name for name, machine in configuration["machines"].items() if machine["ps"]]


class Shares(unittest.TestCase):
    def test_the_largest_remainders_are_rounded_up(self):
        self.assertEqual(shares(10, [1, 1, 1]), [4, 3, 3])
        self.assertEqual(shares(7, [0.5, 0.3, 0.2]), [4, 2, 1])

    def test_no_weight_is_no_load(self):
        self.assertEqual(shares(7, [0.0, 0.3, 0.0]), [0, 7, 0])

    def test_the_sum_is_the_total_whatever_the_weights(self):
        source = random.Random(1)
        for _ in range(1000):
            weights = [source.random() ** source.choice([0, 1, 9]) for _ in range(source.randint(1, 15))]
            total = source.choice([1, 6, 128, 65536])
            found = shares(total, weights)
            self.assertEqual(sum(found), total)
            for load, weight in zip(found, weights):
                self.assertLess(abs(load - total * weight / sum(weights)), 1 + 1e-6)

    def test_tiny_weights_do_not_lose_inputs(self):
        self.assertEqual(sum(shares(65536, [1e-300, 1e-320, 1.0])), 65536)
        self.assertEqual(sum(shares(65536, [5e-324, 5e-324, 5e-324])), 65536)


class Encodings(unittest.TestCase):
    def draw(self, encoding, source):
        value = {Boolean: lambda _: source.random() < 0.3, Count: lambda count: source.randint(0, count.most)}
        weight = lambda _: source.choice([0.0, source.random()])  # noqa: E731
        return {each.name: value.get(type(each), weight)(each) for each in encoding.parameters()}

    def test_every_proposal_is_feasible(self):
        source = random.Random(2)
        for encoding in (PerMachine(CLUSTER), PerType(CLUSTER)):
            for _ in range(1000):
                found = encoding.configuration(self.draw(encoding, source))
                self.assertEqual(list(found["machines"]), [machine["name"] for machine in CLUSTER["machines"]])
                self.assertEqual(sum(sum(load.values()) for load in loads(found).values()), 1000)
                self.assertTrue(servers(found))
                self.assertEqual(workers(found), [name for name, load in loads(found).items() if any(load.values())])

    def test_both_start_with_the_guesses_of_speed(self):
        speeds = {"g": {"cpu": 1, "gpu": 8}, "m": {"cpu": 2}}
        cluster = {"batch": 2400, "machines": [machine | {"speeds": speeds[machine["type"]]} for machine in CLUSTER["machines"]]}
        for encoding in (PerMachine(cluster), PerType(cluster)):
            found = loads(encoding.configuration(start(encoding)))
            self.assertEqual((found["g-2"], found["m-1"]), ({"cpu": 100, "gpu": 800}, {"cpu": 200}))

    def test_without_guesses_both_start_with_the_uniform_schedule(self):
        found = PerMachine(CLUSTER).configuration(start(PerMachine(CLUSTER)))
        self.assertEqual(found, PerType(CLUSTER).configuration(start(PerType(CLUSTER))))
        self.assertEqual(len(servers(found)), 5)
        self.assertEqual({load for each in loads(found).values() for load in each.values()}, {142, 143})

    def test_without_a_worker_all_work(self):
        encoding = PerMachine(CLUSTER)
        values = start(encoding) | {f"{machine['name']} works": False for machine in CLUSTER["machines"]}
        self.assertEqual(workers(encoding.configuration(values)), ["g-1", "g-2", "m-1", "m-2", "m-3"])

    def test_without_a_server_the_workers_serve(self):
        encoding = PerType(CLUSTER)
        values = start(encoding) | {"g servers": 0, "m servers": 0, "m workers": 1}
        self.assertEqual(servers(encoding.configuration(values)), ["g-1", "g-2", "m-1"])

    def test_without_a_weight_workers_share_evenly(self):
        encoding = PerType(CLUSTER)
        values = start(encoding) | {"m cpu": 0.0, "g workers": 0, "m workers": 2}
        self.assertEqual(loads(encoding.configuration(values))["m-1"], {"cpu": 500})

    def test_a_worker_without_a_load_is_none(self):
        encoding = PerType(CLUSTER)
        values = start(encoding) | {"m cpu": 0.0}
        self.assertEqual(workers(encoding.configuration(values)), ["g-1", "g-2"])

    def test_of_a_type_the_first_work_and_the_last_serve(self):
        encoding = PerType(CLUSTER)
        values = start(encoding) | {"g servers": 0, "g workers": 0, "m workers": 2, "m servers": 1}
        found = encoding.configuration(values)
        self.assertEqual((workers(found), servers(found)), (["m-1", "m-2"], ["m-3"]))


class Driver(unittest.TestCase):
    def run_bench(self, folder, *words):
        surroundings = os.environ | {"HEMINGWAY_PROGRAM": str(HERE / "fake_hemingway.py")}
        command = [sys.executable, HERE / "bench.py", "--results", folder, "--seeds", "1", "--evaluations", "12", *words]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_every_tuner_runs_and_a_second_call_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.run_bench(folder, "--experiments", "b")
            self.assertIn("9 runs, 0 of them kept", first.stderr)
            self.assertEqual(len([line for line in first.stdout.splitlines() if " 1 | " in line]), 10)
            both = self.run_bench(folder, "--tuners", "random,optuna")
            self.assertIn("4 runs, 2 of them kept", both.stderr)
            again = self.run_bench(folder, "--again", "optuna", "--tuners", "random,optuna")
            self.assertIn("4 runs, 2 of them kept", again.stderr)

    def test_no_two_tuners_are_the_same(self):
        """A default that changes under us would make two rows of the table one."""
        with tempfile.TemporaryDirectory() as folder:
            self.run_bench(folder, "--experiments", "a", "--seeds", "2", "--evaluations", "30", "--tuners", ",".join(RIVALS))
            lines = [json.loads(line) for line in (Path(folder) / "results.jsonl").read_text().splitlines()]
            found = {tuner: [line["ratios"] for line in sorted(lines, key=lambda line: line["run"]) if line["tuner"] == tuner]
                     for tuner in RIVALS}
            self.assertEqual(len({json.dumps(ratios) for ratios in found.values()}), len(RIVALS))

    def test_a_second_benchmark_gives_the_same_ratios(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            lines = []
            for folder in (one, two):
                self.run_bench(folder, "--experiments", "a")
                lines.append(sorted((Path(folder) / "results.jsonl").read_text().splitlines()))
            self.assertEqual(*lines)


if __name__ == "__main__":
    unittest.main()
