#!/usr/bin/env python3
"""Fits how far families of algorithms scale to measured curves, and judges it on data that was left out.

    ENV/bin/python bench/scaling/fit.py bench/scaling/curves.jsonl.gz bench/scaling/characters.jsonl.gz \\
        crates/hemingway-plan/src/scaling/coefficients.rs docs/scaling.md

The third argument is written anew; in the last one what stands between the marks of `tables.py` is. Without them only the
tables are printed. `bench/scaling/run` makes the first two.

Characters are chosen one after the other, those that help most on sources that were left out, as long as that is worth it. The
datasets of `bench/regret` take no part in the choice. Every prediction in the tables is of a line that saw nothing of its source.
"""

import sys

import numpy as np

import curves
import lines
import tables

WORTH = 0.01  # of the loss, that one more character has to save
MOST_TERMS = 4


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    cells, count = curves.read(sys.argv[1], sys.argv[2])
    by_family = {family: [cell for cell in cells if cell.family == family] for family in curves.FAMILIES}
    chosen = {family: choose(of) for family, of in by_family.items()}
    text = tables.all_tables(by_family, chosen, cells, count)
    print(text)
    if len(sys.argv) == 5:
        with open(sys.argv[3], "w") as file:
            file.write(rust(by_family, chosen))
        tables.insert(sys.argv[4], text)


def choose(cells):
    cells = [cell for cell in cells if cell.group != "held back"]
    names, chosen = sorted(cells[0].characters), []
    now = lines.loss(lines.left_out(cells, chosen, lines.FOLDS))
    while len(chosen) < MOST_TERMS:
        rest = [name for name in names if name not in chosen]
        tried = [(lines.loss(lines.left_out(cells, chosen + [name], lines.FOLDS)), name) for name in rest]
        least, name = min(tried)
        if least > now - WORTH:
            break
        now, chosen = least, chosen + [name]
    return chosen


def rust(by_family, chosen):
    text = [HEADER]
    for family, cells in by_family.items():
        line = lines.fit(cells, chosen[family])
        turns = float(np.median([cell.turns for cell in cells if not cell.censored]))
        text.append(f'    Line {{ family: "{family}", typical: {line.typical:.4f}, turns: {turns:.2f}, terms: &[')
        terms = zip(line.names, line.slopes, line.centres, line.least, line.most)
        text += [f'        Term {{ character: "{name}", slope: {slope:.4f}, typical: {centre:.4f}, least: {least:.4f}, most: {most:.4f} }},'
                 for name, slope, centre, least, most in terms]
        text.append("    ] },")
    return "\n".join(text) + "\n];\n"


HEADER = """//! How far families scale, fitted to measured curves: written by `bench/scaling/fit.py`, not by hand.

use super::line::{Line, Term};

#[rustfmt::skip]
pub(super) static LINES: [Line; 4] = ["""

main()
