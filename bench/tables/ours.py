"""Hemingway as a user types it: a file, the name of the label, nothing else. Then the predictions for the rows held back."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("HEMINGWAY_PROGRAMS", ROOT / "target" / "release")) / "hemingway"


class Failed(Exception):
    """What the program said."""


def hemingway(*words):
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise Failed(f"hemingway {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def predictions(training, held_back, table, folder):
    """What a model trained on one file says of another, row by row, and the report of the training."""
    store = folder / "store.sqlite"
    words = ["train", training, "--label", table.label, *table.flags, "--json", "--quiet", "--store", store]
    report = json.loads(hemingway(*words))
    said = json.loads(hemingway("predict", report["model"], held_back, "--json"))
    return said["predictions"], report
