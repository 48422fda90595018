#!/usr/bin/env python3
"""Which characters of a dataset tell how many rounds algorithms need, beyond the terms that the prior has?

    target/release/examples/corpus --characters CORPUS REAL/*.libsvm > CHARACTERS     # CORPUS is corpus.jsonl.gz, unpacked
    ENV/bin/python bench/prior/characters.py bench/prior/corpus.jsonl.gz CHARACTERS

Fits the prior with each character of `hemingway profile` as one more term, and with its product with ln m, and judges it on datasets
that were left out. The table goes to standard output, as Markdown. Only runs whose data has characters take part, and of
algorithms those that win.
"""

import json
import math
import sys
from collections import defaultdict

import numpy as np

import fit

ALGORITHMS = ["cocoa", "cocoa-plus", "acc-dadm", "l-bfgs", "newton", "newton-cg"]
# What each is called, and how it is found.
CHARACTERS = {
    "ln density": lambda of: math.log(of["density"]),
    "ln δ, the most frequent feature": lambda of: math.log(of["delta"]),
    "ln ρ, the chance of a conflict": lambda of: math.log(of["rho"] + 1e-3),
    "ln Ω, the longest row": lambda of: math.log(of["omega"]),
    "ln total variance": lambda of: math.log(of["variance"] + 1e-9),
    "ln C_sim of shuffled rows": lambda of: math.log(of["shuffled"] + 1e-3),
    "ln C_sim as given over shuffled": lambda of: math.log((of["c_sim"] + 1e-3) / (of["shuffled"] + 1e-3)),
    "ln share of different rows": lambda of: math.log(of["distinct"]),
    "ln longest over median norm": lambda of: math.log(of["longest"] / max(of["usual"], 1e-9)),
    "ln σ' on 16 workers": lambda of: math.log(of["crowding"] or 1.0),
    "ln noise scale of gradients": lambda of: math.log(min(of["noise"] or 1e4, 1e4) + 1e-2),
}
PRODUCTS = "{}, and times ln m"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    known = {}
    for line in open(sys.argv[2]):
        of = json.loads(line)
        known[of["data"], of["rows"], of["nonzeros"]] = of
    runs = [run for run in fit.read(sys.argv[1]) if run["algorithm"] in ALGORITHMS and run["pilot"] is None]
    for run in runs:
        run["of"] = known.get((run["data"], run["rows"], run["nonzeros"]))
    runs = [run for run in runs if run["of"]]
    print(f"{len(runs)} runs on {len({run['data'] for run in runs})} datasets; the algorithms {', '.join(ALGORITHMS)}.\n")
    print("| one more term | typical factor | on real data | ln likelihood of a left-out point | on real data |\n|---|---:|---:|---:|---:|")
    terms, names = [run["terms"] for run in runs], list(fit.NAMES)
    row("none", runs)
    for name, of in CHARACTERS.items():
        for label, values in ((name, lambda value, m: [value]), (PRODUCTS.format(name), lambda value, m: [value, value * m])):
            fit.NAMES[:] = names + [label, f"{label} (product)"][:len(values(0.0, 0.0))]
            for run, own in zip(runs, terms):
                run["terms"] = own + values(of(run["of"]), math.log(run["workers"]))
                run["points"] = list(fit.points(run))
            row(label, runs)
    fit.NAMES[:] = names


def row(label, runs):
    groups = defaultdict(lambda: defaultdict(list))
    for run in runs:
        groups[run["algorithm"], run["alone"]][run["loss"]].append(run)
    judged = []
    for group, by_loss in groups.items():
        if group[0] == "newton":
            by_loss.pop("squared", None)  # always one round
        judged += fit.left_out(by_loss, fit.used(group, by_loss))
    figures = [figure(judged, lambda run: True), figure(judged, lambda run: run["real"])]
    print(f"| {label} | {figures[0][0]:.3f} | {figures[1][0]:.3f} | {figures[0][1]:.3f} | {figures[1][1]:.3f} |", flush=True)


def figure(judged, takes_part):
    """Typical factor, and the mean ln likelihood of points that were reached, under one standard deviation for each group."""
    by_group = defaultdict(list)
    for run, points in judged:
        if takes_part(run):
            by_group[run["algorithm"], run["alone"], run["loss"]] += [residual for _, residual, hit in points if hit]
    every = np.concatenate([np.array(values) for values in by_group.values()])
    logs = np.concatenate([-0.5 * np.square(values) / np.var(values) - 0.5 * math.log(2 * math.pi * np.var(values))
                           for values in map(np.array, by_group.values())])
    return math.exp(np.median(np.abs(every))), float(logs.mean())


main()
