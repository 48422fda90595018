"""The driver against the stand-in, on problems small enough to solve by hand.

    .venv/bin/python -m unittest
"""

import json
import os
import unittest
from pathlib import Path

import numpy as np

import datasets
import ours
import protocol
import pstar_hinge
import pstar_logistic
import report
from objective import LAMBDA, primal
from peer import Peer

FAKE = Path(__file__).with_name("fake_hemingway.py").resolve()
TINY = datasets.Dataset("tiny", "tiny", None, ("--positive", "5"))


def data(rows=((1.0, 0.0), (0.0, 1.0))):
    return datasets.Prepared(TINY, np.array(rows), np.array([1.0, -1.0]))


def run(script, mode="objective", epsilon=1e-2, optimum=0.5, limit=20, entry=ours.Entry("cocoa", 2)):
    os.environ["FAKE_HEMINGWAY"] = json.dumps(script)
    runner = ours.Runner(FAKE, "tiny", TINY, data(), "hinge", optimum, limit)
    return runner.run(entry, mode, epsilon, seed=1)


class Driver(unittest.TestCase):
    def test_takes_wall_seconds_and_scores_the_model_itself(self):
        result = run({"weights": [1.0], "primal": 0.5}, optimum=0.5)
        self.assertEqual(result["seconds"], 0.02)
        self.assertTrue(result["verified"])  # hinge losses 0 and 1, whatever it claimed
        self.assertAlmostEqual(result["error"], LAMBDA / 2 / 0.5)

    def test_believes_the_stated_primal_only_without_a_model(self):
        result = run({"primal": 0.505})
        self.assertFalse(result["verified"])
        self.assertAlmostEqual(result["error"], 0.01)

    def test_certified_needs_the_certificate(self):
        self.assertTrue(run({"certified_error": 0.009}, "certified")["said_reached"])
        self.assertFalse(run({"certified_error": 0.02}, "certified")["said_reached"])

    def test_a_plan_pays_for_all_but_loading_and_names_its_ways(self):
        switched = {"switches": [{"from": {"algorithm": "newton", "workers": 2}}]}
        result = run(switched, entry=ours.Planned())
        self.assertAlmostEqual(result["seconds"], 0.05)
        self.assertEqual(result["choice"], "newton-2, cocoa-1")

    def test_failure_and_time_limit_are_results(self):
        self.assertIn("no such algorithm", run({"fail": "no such algorithm"})["failed"])
        self.assertIn("over", run({"sleep": 5}, limit=1)["failed"])


class Protocol(unittest.TestCase):
    def test_scout_ends_at_the_tightest_and_contenders_are_the_fastest(self):
        def fitting(pace):  # error 10^-k after k rungs
            return lambda rung, seed: (pace * rung, np.array([10.0 ** -rung]))

        class Direct(protocol.Judge):
            def trial(self, peer, setting, seed):
                seconds, weights = peer.fit(setting, seed)
                return {"who": peer.name, "setting": setting, "seconds": seconds, "error": weights[0]}

        field = [Peer("quick", [1, 2, 3, 4, 5, 6], fitting(1)), Peer("slow", [1, 2, 3, 4, 5], fitting(4))]
        limits = protocol.Limits(repeats=1, cap=100)
        trials = protocol.scout(field, Direct(None, None, None), limits, lambda text: None)
        self.assertEqual([t["setting"] for t in trials if t["who"] == "quick"], [1, 2, 3, 4])
        chosen = [(p.name, s) for p, s in protocol.peer_contenders(field, trials, limits)]
        self.assertEqual(chosen, [("quick", 2), ("quick", 3), ("quick", 4), ("quick", 5), ("quick", 6)])

    def test_a_setting_reaches_by_its_median_error(self):
        runs = [{"who": "a", "setting": 1, "seconds": 1.0, "error": e} for e in (0.009, 0.02, 0.03)]
        runs += [{"who": "b", "setting": 1, "seconds": 2.0, "error": e} for e in (0.001, 0.002, 0.03)]
        self.assertEqual(report.best_peer({"peers": runs}, 1e-2)["who"], "b")


class Optimum(unittest.TestCase):
    def test_brackets_hold_the_optimum_and_are_narrow(self):
        random = np.random.default_rng(0)
        matrix = datasets.sparse.csr_matrix(random.normal(size=(300, 5)))
        labels = np.where(matrix @ np.ones(5) + random.normal(size=300) > 0, 1.0, -1.0)
        for loss, method in (("hinge", pstar_hinge), ("logistic", pstar_logistic)):
            lower, upper = method.bracket(matrix, labels, None)
            self.assertLess((upper - lower) / upper, 1e-8)
            self.assertLess(upper, primal(loss, matrix, labels, np.ones(5)))


if __name__ == "__main__":
    unittest.main()
