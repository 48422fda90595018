#!/usr/bin/env python3
"""A stand-in that keeps the contract of `hemingway train`, to test the driver without our binary.

It reads nothing and learns nothing: the weights it leaves, and what it claims
of them, come from FAKE_HEMINGWAY, a JSON object with any of: weights, primal,
certified_error, wall_seconds, sleep, fail.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path


def main():
    if sys.argv[1:] == ["--version"]:
        return print("hemingway 0.0.0-fake")
    arguments = parse()
    script = json.loads(os.environ.get("FAKE_HEMINGWAY", "{}"))
    time.sleep(script.get("sleep", 0))
    if "fail" in script:
        sys.exit(script["fail"])
    print(json.dumps({
        "wall_seconds": script.get("wall_seconds", 0.01 * arguments.workers), "seconds": 0.01,
        "load_seconds": 0.1, "total_seconds": 0.15, "switches": script.get("switches", []),
        "algorithm": arguments.algorithm or "cocoa", "workers": arguments.workers,
        "primal": script.get("primal", arguments.objective or 0.5),
        "certified_error": script.get("certified_error", arguments.error),
        "stop": "objective" if arguments.objective else "error",
        "model": leave(script.get("weights"), arguments.store)}))


def leave(weights, store):
    if weights is None:
        return None
    model = Path(store).with_suffix(".model.json")
    model.write_text(json.dumps({"weights": weights}))
    return str(model)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["train"])
    parser.add_argument("file")
    parser.add_argument("--positive")
    parser.add_argument("--label", choices=["first", "last"])
    parser.add_argument("--no-bias", action="store_true")
    parser.add_argument("--no-standardise", action="store_true")
    parser.add_argument("--loss", choices=["hinge", "logistic"], required=True)
    parser.add_argument("--lambda", type=float, required=True)
    parser.add_argument("--algorithm")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--engine", choices=["threads"], required=True)
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--objective", type=float)
    goal.add_argument("--error", type=float)
    parser.add_argument("--json", action="store_true", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--store", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
