"""How many row visits asynchronous methods need as workers, and so the age of what they read, grow."""

import math

from plot import Axis, Line, chart
from trainer import errors

ERROR = 1e-2
WORKERS = [2 ** k for k in range(9)]
GRID_WORKERS = [4 ** k for k in range(5)]
# Times the step size that a search finds on one worker.
GRID = [0.01, 0.0316, 0.1, 0.316, 1.0, 3.16]
SEEDS = range(3)
LAMBDA = "1e-4"
MOST_EPOCHS, MOST_EPOCHS_OF_GRID = 100, 60
BATCH = 32
DATASETS = {"newsgroups20-binary": ["newsgroups20-binary.libsvm.gz"], "higgs-11k": ["higgs-11k.csv.gz", "--standardise", "--no-bias"]}
ALGORITHMS = {"hogwild": 1, "async-sgd": BATCH}
# P(0) of the logistic loss.
START = math.log(2)


class Curve:
    """One method on one dataset."""

    def __init__(self, trainer, algorithm, dataset):
        self.trainer, self.algorithm, self.dataset = trainer, algorithm, dataset
        self.problem = [*DATASETS[dataset], "--lambda", LAMBDA]
        self.optimum = trainer.optimum(*self.problem)
        self.size = self.train(1, MOST_EPOCHS)["report"]["step_size"]
        self.seeds = {m: [self.measure(m, MOST_EPOCHS, self.size, seed) for seed in SEEDS] for m in WORKERS}
        self.fixed = {m: sorted(visits, key=rank)[len(SEEDS) // 2] for m, visits in self.seeds.items()}
        self.searched = {m: self.measure(m, MOST_EPOCHS) for m in WORKERS}
        grid = lambda m: [self.measure(m, MOST_EPOCHS_OF_GRID, self.size * by) for by in GRID]
        self.best = {m: min(grid(m), key=rank) for m in GRID_WORKERS}
        run = self.train(1, MOST_EPOCHS)
        self.rows, self.density = run["dataset"]["rows"], run["dataset"]["nonzeros"] / run["dataset"]["rows"] / run["dataset"]["features"]

    @property
    def name(self):
        return f"{self.algorithm}, {self.dataset}"

    def train(self, workers, epochs, size=None, seed=0):
        step = ["--step-size", f"{size:.6g}"] if size else []
        step += ["--seed", seed] if seed else []
        return self.trainer.run(*self.problem, "--algorithm", self.algorithm, "--workers", workers, "--objective",
                                f"{self.optimum * (1 + ERROR):.10g}", "--rounds", epochs, "--score-every", 1, *step)

    def measure(self, workers, epochs, size=None, seed=0):
        """Row visits in passes over the data until the error, on the straight line of its logarithm between two scores."""
        run = self.train(workers, epochs, size, seed)
        rows, each = run["dataset"]["rows"], ALGORITHMS[self.algorithm]
        before = (0.0, START / self.optimum - 1)
        result = {"workers": workers, "seed": seed, "size": run["report"]["step_size"], "epochs": None, "steps": None,
                  "error": run["report"]["primal"] / self.optimum - 1}
        for point, error in errors(run, self.optimum):
            now = (point["iterations"] * each / rows, error)
            if error <= ERROR:
                share = math.log(before[1] / ERROR) / math.log(before[1] / error)
                epochs = before[0] + share * (now[0] - before[0])
                return {**result, "epochs": epochs, "steps": epochs * rows / each}
            before = now
        return result


def rank(visit):
    """The fewest passes first; those that never got there by how near they came."""
    return (visit["epochs"] or math.inf, visit["error"])


def measure(trainer):
    return [Curve(trainer, algorithm, dataset) for dataset in DATASETS for algorithm in ALGORITHMS]


def figures(curves):
    fixed = [line(curve, curve.fixed, at, MOST_EPOCHS) for at, curve in enumerate(curves)]
    best = [line(curve, curve.best, at, MOST_EPOCHS_OF_GRID) for at, curve in enumerate(curves)]
    x = Axis("workers (simulated)", 1, 256, 2)
    y = Axis(f"passes over the data until relative error {ERROR:g}", 1, 128, 2)
    return {"staleness-fixed": chart("Staleness at one step size, found on one worker", x, y, fixed),
            "staleness-best": chart(f"Staleness at the best of {len(GRID)} step sizes for each number of workers", x, y, best)}


def line(curve, visits, at, most):
    reached = [(m, visit["epochs"]) for m, visit in visits.items() if visit["epochs"]]
    missed = [(m, most) for m, visit in visits.items() if not visit["epochs"]]
    return Line(curve.name, reached, at, dashed=curve.algorithm == "async-sgd", ended_early=missed)


def rows(curves):
    header = ["dataset", "algorithm", "choice", "workers", "seed", "step_size", "epochs", "steps", "error_at_end"]
    body = []
    for curve in curves:
        visits = [("fixed", visit) for m in WORKERS for visit in curve.seeds[m]]
        visits += [("searched", visit) for visit in curve.searched.values()] + [("best of grid", visit) for visit in curve.best.values()]
        for choice, visit in visits:
            taken = [f"{visit[name]:.2f}" if visit[name] else "" for name in ("epochs", "steps")]
            body.append([curve.dataset, curve.algorithm, choice, visit["workers"], visit["seed"], f"{visit['size']:.6g}", *taken, f"{visit['error']:.4g}"])
    return {"staleness": [header, *body]}


def section(curves):
    table = ["| passes until 1e-2, by workers | step size | " + " | ".join(map(str, WORKERS)) + " |", "|---|---|" + "---:|" * len(WORKERS)]
    for curve in curves:
        table.append(f"| {curve.name} | {curve.size:.3g}, found on 1 | " + " | ".join(cell(curve.fixed[m], MOST_EPOCHS) for m in WORKERS) + " |")
        table.append("| | searched for on so many | " + " | ".join(cell(curve.searched[m], MOST_EPOCHS) for m in WORKERS) + " |")
        best = [cell(curve.best[m], MOST_EPOCHS_OF_GRID) + f" ({curve.best[m]['size']:.2g})" if m in curve.best else "" for m in WORKERS]
        table.append("| | best of grid (the size) | " + " | ".join(best) + " |")
    return TEXT.format(table="\n".join(table), error=ERROR, size=len(GRID), most=MOST_EPOCHS, most_grid=MOST_EPOCHS_OF_GRID, batch=BATCH,
                       data="; ".join(f"{c.dataset} has {c.rows:,} rows and {100 * c.density:.2g} % of its values are not zero" for c in curves[::len(ALGORITHMS)]),
                       on_way=f"{(WORKERS[-1] - 1) * BATCH:,}", findings="\n".join("- " + finding(curve) for curve in curves), alike=alike(curves), seeds=len(SEEDS), flags=f"--lambda {LAMBDA}")


def cell(visit, most):
    return f"{visit['epochs']:.1f}" if visit["epochs"] else f"> {most}"


def finding(curve):
    """What one curve shows, in words and numbers."""
    alone = curve.fixed[1]["epochs"]
    reached = [m for m in WORKERS if curve.fixed[m]["epochs"]]
    last = reached[-1]
    text = f"**{curve.name}**, step size {curve.size:.3g}: {alone:.1f} passes on 1 worker, {curve.fixed[last]['epochs']:.1f} on {last} ({curve.fixed[last]['epochs'] / alone:.2g} times)"
    if last < WORKERS[-1]:
        worst = curve.fixed[WORKERS[-1]]
        text += f"; on {WORKERS[WORKERS.index(last) + 1]} not in {MOST_EPOCHS} (on {WORKERS[-1]} the error is then {worst['error']:.2g})"
    slower = [m for m in WORKERS if all((curve.fixed[more]["epochs"] or math.inf) > 1.5 * alone for more in WORKERS if more >= m)]
    text += f". From {slower[0]} workers on it takes over half as many again" if slower else ". On no number of workers does it take half as many again"
    best, at = curve.best[GRID_WORKERS[-1]], curve.best[1]
    if best["epochs"] and at["epochs"]:
        text += (f". With the best step of the grid: {at['epochs']:.1f} on 1 (step {at['size']:.2g}), {best['epochs']:.1f} on {GRID_WORKERS[-1]} "
                 f"(step {best['size']:.2g}; {best['epochs'] / at['epochs']:.2g} times)")
    else:
        text += f". On {GRID_WORKERS[-1]} no step of the grid gets there in {MOST_EPOCHS_OF_GRID} passes (the best, {best['size']:.2g}, is at {best['error']:.2g})"
    return text + "."


def alike(curves):
    """Both methods where about as many rows are under way."""
    few, many = WORKERS[3], WORKERS[-1]
    said = []
    for curve in curves:
        workers, late = (many, many - 1) if curve.algorithm == "hogwild" else (few, (few - 1) * BATCH)
        times = curve.fixed[workers]["epochs"] / curve.fixed[1]["epochs"] if curve.fixed[workers]["epochs"] else math.inf
        said.append(f"{curve.name} takes {times:.2g} times as many passes on {workers} workers ({late} rows late) as on one")
    return "; ".join(said) + "."


TEXT = """\
## Staleness

![Staleness at one step size](algorithms/staleness-fixed.svg)

Hogwild! and asynchronous SGD read weights that are some updates old: the more workers, the older. Logistic loss, `{flags}`;
{data}.
In shared memory every core of one machine computes at the same speed and memory costs nothing, so that while a step is
computed each other worker makes one: on 256 workers a step is 255 steps old. Asynchronous SGD takes {batch} rows
at a time and asks one server: up to {on_way} rows are on their way. Curves end where {most} passes were not enough (a cross).
Passes are row visits of steps over rows; between two scores, one for each pass, the logarithm of the error is taken to
be straight. Each point is the median of {seeds} random seeds. In real time many workers are slow to
simulate: steps are made one after the other, each by its worker's thread, and handing over takes longer than a step.

{findings}

At about the same delay in rows: {alike}

![Staleness at the best step size](algorithms/staleness-best.svg)

A longer delay wants a shorter step. The second figure takes for each number of workers the best of {size} step sizes, from a
hundredth of the one found on one worker to three times as long ({most_grid} passes at most, one seed). The search that a run makes by itself
tries steps on a sample of each worker's rows, twice as late as they are with so many workers.

{table}
"""
