"""The tables of `docs/scaling.md`."""

import math

import numpy as np

import lines
from curves import FAMILIES

BEGIN, END = "<!-- written by bench/scaling/fit.py -->", "<!-- end of what it wrote -->"
GROUPS = {"generated": "generated", "real": "real", "held back": "real, held back"}
SHOWN = 1e-3  # the penalty of the table of cells


def all_tables(by_family, chosen, cells, count):
    judged = {family: lines.left_out(of, chosen[family]) for family, of in by_family.items()}
    constant = {family: lines.left_out(of, []) for family, of in by_family.items()}
    guesses = {family: [(cell, guess(cell)) for cell in of] for family, of in by_family.items()}
    parts = [counts(by_family, count), summary(judged, constant, guesses), without_easy(judged), by_penalty(judged), says(by_family, chosen, judged),
             alone(by_family), cocoa_plus(judged, cells), every(judged)]
    return "\n\n".join(parts)


def insert(path, text):
    with open(path) as file:
        before, rest = file.read().split(BEGIN)
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def counts(by_family, count):
    every = [cell for of in by_family.values() for cell in of]
    sources = {group: len({cell.source for cell in every if cell.group == group}) for group in GROUPS}
    penalties = ", ".join(f"{penalty:g}" for penalty in sorted({cell.penalty for cell in every}))
    return (f"Of {count} cells that were measured {len(every)} say something: {sources['generated']} generated datasets, "
            f"{sources['real']} real sources and {sources['held back']} that were held back, lambda {penalties}. "
            f"{sum(cell.censored for cell in every)} cells are censored. Points are {math.exp(np.median([cell.off for cell in every])) - 1:.0%} "
            f"off the form, typically.")


def percent(judged):
    return f"{lines.share(judged):.0%}" if judged else ""


def summary(judged, constant, guesses):
    rows = ["| share of cells inside | cells | censored | **inside** | not censored | generated | real | real, held back | one constant | the earlier guesses |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for family in FAMILIES + ["**all**"]:
        pick = lambda of: of[family] if family in of else [each for every in of.values() for each in every]
        mine = pick(judged)
        groups = " | ".join(percent([each for each in mine if each[0].group == group]) for group in GROUPS)
        open_ended = [each for each in mine if not each[0].censored]
        rows.append(f"| {family} | {len(mine)} | {len(mine) - len(open_ended)} | **{percent(mine)}** | {percent(open_ended)} | {groups} | "
                    f"{percent(pick(constant))} | {percent(pick(guesses))} |")
    return "\n".join(rows)


def without_easy(judged):
    harder = {family: [each for each in of if not each[0].easy] for family, of in judged.items()}
    every = [each for of in harder.values() for each in of]
    real = [each for each in every if each[0].group != "generated"]
    shares = ", ".join(f"{family} {percent(of)}" for family, of in harder.items())
    return (f"{sum(map(len, judged.values())) - len(every)} cells are of easy problems, where zero weights are within ten times the goal "
            f"and a lucky step reaches it. They are in all tables. Of the other {len(every)}, {percent(every)} are inside ({shares}); of "
            f"the {len(real)} real ones {percent(real)}.")


def by_penalty(judged):
    every = [each for of in judged.values() for each in of]
    penalties = sorted({cell.penalty for cell, _ in every})
    rows = ["| lambda | cells | inside | real ones, all | inside | real ones not censored | inside |", "|---|---:|---:|---:|---:|---:|---:|"]
    for penalty in penalties:
        mine = [each for each in every if each[0].penalty == penalty]
        real = [each for each in mine if each[0].group != "generated"]
        open_ended = [each for each in real if not each[0].censored]
        rows.append(f"| {penalty:g} | {len(mine)} | {percent(mine)} | {len(real)} | {percent(real)} | {len(open_ended)} | {percent(open_ended)} |")
    return "\n".join(rows)


def says(by_family, chosen, judged):
    """What each character of a line is worth: the line without it."""
    rows = ["| family | character | best m times, where it is times e | inside with all | without it | loss with all | without it |",
            "|---|---|---:|---:|---:|---:|---:|"]
    for family, cells in by_family.items():
        line = lines.fit(cells, chosen[family])
        for name, slope in zip(line.names, line.slopes):
            without = lines.left_out(cells, [other for other in chosen[family] if other != name])
            rows.append(f"| {family} | {name} | {math.exp(slope):.2f} | {percent(judged[family])} | {percent(without)} | "
                        f"{lines.loss(judged[family]):.3f} | {lines.loss(without):.3f} |")
    return "\n".join(rows)


def alone(by_family):
    """Each character alone."""
    names = sorted(next(iter(by_family.values()))[0].characters)
    rows = ["| one character alone | " + " | ".join(FAMILIES) + " |", "|---|" + "---:|" * len(FAMILIES)]
    of = {name: [lines.share(lines.left_out(by_family[family], [name], lines.FOLDS)) for family in FAMILIES] for name in names}
    of["none"] = [lines.share(lines.left_out(by_family[family], [], lines.FOLDS)) for family in FAMILIES]
    for name in sorted(of, key=lambda name: -sum(of[name])):
        rows.append(f"| {name} | " + " | ".join(f"{share:.0%}" for share in of[name]) + " |")
    return "\n".join(rows)


def cocoa_plus(judged, cells):
    """What the interval of the dual family says of rounds that visit all rows."""
    predicted = {(cell.data, cell.penalty): each for cell, each in judged["dual"]}
    pairs = [(cell, predicted[cell.data, cell.penalty]) for cell in cells
             if cell.family == "cocoa-plus" and (cell.data, cell.penalty) in predicted]
    ratio = math.exp(np.median([math.log(cell.best / each) for cell, each in pairs]))
    return (f"CoCoA+, counted in rows that a worker visits: of {len(pairs)} cells {percent(pairs)} are inside the interval that the dual "
            f"family has from dadm; its best m is {ratio:.2f} times the prediction in the median.")


def every(judged):
    """Cell by cell, on real data at one penalty."""
    by_data = {}
    for family, of in judged.items():
        for cell, predicted in of:
            if cell.group != "generated" and cell.penalty == SHOWN:
                by_data.setdefault((cell.group, cell.data), {})[family] = (cell, predicted)
    together = [each for of in by_data.values() for each in of.values()]
    rows = [f"Cell by cell, lambda {SHOWN:g}: {percent(together)} of {len(together)} cells on {len(by_data)} real datasets are inside; first "
            "those that were held back.", "",
            "| dataset | rows | " + " | ".join(FAMILIES) + " |", "|---|---:|" + "---|" * len(FAMILIES)]
    for (_, data), of in sorted(by_data.items()):
        some = next(iter(of.values()))[0]
        rows.append(f"| {data} | {some.rows} | " + " | ".join(shown(*of[family]) if family in of else "" for family in FAMILIES) + " |")
    return "\n".join(rows)


def shown(cell, predicted):
    least = "≥ " if cell.censored else ""
    mark = "" if lines.is_inside(cell, predicted) else " **out**"
    return f"{least}{cell.best:.0f} in {max(predicted / lines.UNSURE, 1):.0f}–{min(predicted * lines.UNSURE, cell.rows):.0f}{mark}"


def guess(cell):
    """What was there before anything was measured."""
    of = cell.characters
    spread = max(of["spread"], 1.0)
    return {
        "asynchronous": 1 / math.sqrt(of["rho"]) * math.sqrt(spread),
        "mini-batch": spread,
        "decentralised": math.sqrt(spread),
        "dual": math.sqrt(cell.rows * of["distinct"] / max(of["dimension"], 1.0)),
    }[cell.family]
