"""Ridge regression of log rounds on the terms of a problem, with runs that ended before the goal as lower bounds.

Standard library only. Runs are weighted so that each counts once, however many errors it reached, and so that those on
real data count as much together as they are meant to.
"""

import csv
import math
from collections import defaultdict

RIDGE = 3.0  # in runs, on terms of unit spread
SWEEPS = 12
REAL = 1.5  # what all runs on real data count for, those on generated data together being 1

TERMS = ["one", "workers", "curvature", "crowding", "condition", "goal", "width", "density", "common", "passes",
         "workers_goal", "condition_goal", "rows"]


def terms(run):
    """What log rounds are linear in; `prior/terms.rs` computes the same."""
    workers, goal = math.log(run["workers"]), math.log(1 / run["error"])
    condition = run["mean_squared_norm"] / run["lambda"]
    curvature = condition / run["rows"]
    return [1.0, workers, math.log1p(curvature), math.log1p(curvature * run["workers"]), math.log1p(condition), goal,
            math.log(run["features"] / run["rows"]), math.log(run["nonzeros"] / (run["rows"] * run["features"])),
            run["common"], math.log(run["passes"]), workers * goal / 10, math.log1p(condition) * goal / 10,
            math.log(run["rows"])]


def read(path):
    """The lines of a file of runs, by algorithm and loss."""
    tables = defaultdict(list)
    with open(path) as file:
        for line in csv.DictReader(file):
            if line["data"] == "data":
                continue  # the header of a file that was joined to another
            run = {name: float(value) for name, value in line.items() if name not in ("data", "loss", "algorithm")}
            run["data"], run["reached"] = line["data"], line["reached"] == "1"
            run["run"] = tuple(line[name] for name in ("data", "lambda", "rows", "features", "workers", "passes"))
            run["x"], run["y"] = terms(run), math.log(run["rounds"])
            tables[line["algorithm"], line["loss"]].append(run)
    return tables


def join(generated, real):
    """Both kinds of runs in one table, those on real data with the weight they are meant to have."""
    for runs, share in ((generated, 1.0), (real, REAL)):
        counts = len({run["run"] for run in runs})
        for run in runs:
            run["real"], run["share"] = runs is real, share * len({run["run"] for run in generated}) / counts
    return generated + real


def weigh(runs):
    """Errors of one run are no independent evidence, and of those it did not reach only the first says much."""
    kept, missed = [], set()
    for run in runs:
        if not run["reached"]:
            if run["run"] in missed:
                continue
            missed.add(run["run"])
        kept.append(run)
    counts = defaultdict(int)
    for run in kept:
        counts[run["run"]] += 1
    return [(run, run.get("share", 1.0) / math.sqrt(counts[run["run"]])) for run in kept]


def fit(runs):
    """Coefficients, by expectation and maximisation over the rounds of runs that did not get there."""
    kept = weigh(runs)
    size = len(TERMS)
    total = sum(weight for _, weight in kept)
    mean = [sum(w * r["x"][j] for r, w in kept) / total for j in range(size)]
    spread = [math.sqrt(sum(w * (r["x"][j] - mean[j]) ** 2 for r, w in kept) / total) for j in range(size)]
    gram = [[sum(w * r["x"][i] * r["x"][j] for r, w in kept) for j in range(size)] for i in range(size)]
    for j in range(1, size):
        gram[j][j] += RIDGE * max(spread[j], 1e-3) ** 2
    guess, sigma, beta = [r["y"] + (0 if r["reached"] else 1.0) for r, _ in kept], 1.0, None
    for _ in range(SWEEPS):
        right = [sum(w * r["x"][j] * y for (r, w), y in zip(kept, guess)) for j in range(size)]
        beta = solve(gram, right)
        squares = 0.0
        for at, (run, weight) in enumerate(kept):
            middle = dot(beta, run["x"])
            if run["reached"]:
                squares += weight * (run["y"] - middle) ** 2
            else:
                above, variance = beyond((run["y"] - middle) / sigma)
                guess[at] = middle + sigma * above
                squares += weight * sigma**2 * (variance + above**2)
        sigma = math.sqrt(squares / total)
    return beta, sigma


def awake(runs):
    """Coefficients of the share of a whole pass that a round of one worker takes until an error, in the logarithm."""
    known = [dict(run, y=math.log(run["activity"])) for run in runs if run["reached"] and run["activity"] > 0]
    return fit(known)[0]


def beyond(bound):
    """Mean and variance of a standard normal variable above a bound."""
    tail = 0.5 * math.erfc(bound / math.sqrt(2))
    hazard = math.exp(-bound * bound / 2) / math.sqrt(2 * math.pi) / tail if tail > 1e-12 else bound
    return hazard, max(1 + bound * hazard - hazard * hazard, 0.0)


def solve(matrix, right):
    """Gaussian elimination with pivots."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for at in range(size):
        best = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for row in range(at + 1, size):
            factor = rows[row][at] / rows[at][at]
            if factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at])]
    answer = [0.0] * size
    for at in reversed(range(size)):
        answer[at] = (rows[at][size] - dot(rows[at][at + 1 : size], answer[at + 1 :])) / rows[at][at]
    return answer


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def held_out(runs):
    """(error, reached) of each run on real data and goal, predicted from other sources; not reached: at least so much."""
    errors = []
    for kind in sorted({run["data"] for run in runs if run["real"]}):
        beta, _ = fit([run for run in runs if run["data"] != kind])
        errors += judge(beta, [run for run in runs if run["data"] == kind])
    return errors


def judge(beta, runs):
    return [(run["y"] - max(dot(beta, run["x"]), 0.0), run["reached"]) for run, _ in weigh(runs)]


def half_width(errors, share):
    """The smallest half of an interval of log rounds that holds this share of outcomes."""
    def misses(error, reached):
        return abs(error) if reached else max(error, 0.0)
    sizes = sorted(misses(*error) for error in errors)
    return sizes[min(math.ceil(share * len(sizes)), len(sizes)) - 1]


def median_factor(errors):
    sizes = sorted(abs(error) for error, reached in errors if reached)
    return math.exp(sizes[len(sizes) // 2]) if sizes else float("nan")


def bias(errors):
    """The middle of log actual over predicted rounds."""
    signed = sorted(error for error, reached in errors if reached)
    return signed[len(signed) // 2] if signed else float("nan")
