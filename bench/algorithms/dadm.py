"""DADM: mini-batches of dual steps, with and without momentum."""

from plot import Axis, Line, chart, thinned
from trainer import errors

DATA, ROWS, WORKERS = "a9a.libsvm.gz", 32561, 16
LAMBDAS = ["1e-5", "1e-3"]
BATCHES = {"1/16 of the rows": 16, "1/4 of the rows": 4, "all rows": 1}
ERROR, SHOWN = 1e-4, 1e-3


def measure(trainer):
    """For each λ: (algorithm, batch) → points and report."""
    return {value: at_lambda(trainer, value) for value in LAMBDAS}


def at_lambda(trainer, value):
    optimum = trainer.optimum(DATA, "--lambda", value)
    runs = {}
    for algorithm in ("dadm", "acc-dadm", "cocoa-plus"):
        for name, part in BATCHES.items():
            if algorithm == "cocoa-plus" and part > 1:
                continue
            batch = [] if algorithm == "cocoa-plus" else ["--batch", ROWS // part]
            run = trainer.run(DATA, "--lambda", value, "--algorithm", algorithm, "--workers", WORKERS, *batch, "--objective",
                              f"{optimum * (1 + ERROR):.12g}", "--rounds", 20000, "--score-every", 1)
            runs[algorithm, name] = {"points": [(point["epochs"], error, point["round"]) for point, error in errors(run, optimum)],
                                     "report": run["report"]}
    return runs


def figures(results):
    return {f"dadm-{value}": figure(value, runs) for value, runs in results.items()}


def figure(value, runs):
    lines = []
    for (algorithm, name), run in runs.items():
        if algorithm != "cocoa-plus":
            points = [(max(epochs, 0.05), error) for epochs, error, _ in run["points"]]
            colour = list(BATCHES).index(name)
            lines.append(Line(f"{algorithm}, {name}", thinned(points), colour, dashed=algorithm == "dadm"))
    most = max(point[0] for line in lines for point in line.points)
    return chart(f"DADM on a9a, λ = {value}, {WORKERS} workers", Axis("passes over the data", 0.05, most, 10),
                 Axis("relative error", ERROR, 1, 10), lines)


def rows(results):
    body = [[value, algorithm, name, number, f"{epochs:.4g}", f"{error:.4g}"]
            for value, runs in results.items() for (algorithm, name), run in runs.items() for epochs, error, number in thinned(run["points"], 60)]
    return {"dadm": [["lambda", "algorithm", "batch", "round", "epochs", "error"], *body]}


def section(results):
    text = [TEXT.format(workers=WORKERS)]
    for value, runs in results.items():
        text.append(f"![DADM, λ = {value}](algorithms/dadm-{value}.svg)\n\nλ = {value}:\n\n" + table(runs) + "\n\n" + finding(runs) + "\n")
    return "\n".join(text)


def table(runs):
    lines = ["| algorithm | batch | passes to 1e-3 | passes to 1e-4 | rounds to 1e-4 |", "|---|---|---:|---:|---:|"]
    for (algorithm, name), run in runs.items():
        lines.append(f"| {algorithm} | {name} | {passes(run, SHOWN)} | {passes(run, ERROR)} | {run['report']['rounds']} |")
    return "\n".join(lines)


def passes(run, error):
    reached = first(run, error)
    return f"{reached[0]:.1f}" if reached else "not reached"


def first(run, error):
    return next((point for point in run["points"] if point[1] <= error), None)


def finding(runs):
    epochs = {key: (first(run, ERROR) or (float("inf"),))[0] for key, run in runs.items()}
    rounds = {key: run["report"]["rounds"] for key, run in runs.items()}
    small, quarter, whole = BATCHES
    same = all(abs(a[1] - b[1]) <= 1e-9 * b[1] for a, b in zip(runs["dadm", whole]["points"], runs["cocoa-plus", whole]["points"]))
    gains = ", ".join(f"{epochs['dadm', name] / epochs['acc-dadm', name]:.1f} on {name}" for name in BATCHES)
    fewest = {algorithm: min(BATCHES, key=lambda name: epochs[algorithm, name]) for algorithm in ("dadm", "acc-dadm")}
    return (f"With all rows dadm is cocoa-plus: their errors {'agree' if same else 'DIFFER'} in every round. "
            f"dadm takes the fewest passes with {fewest['dadm']}, acc-dadm with {fewest['acc-dadm']}; a batch of {small} takes "
            f"{rounds['dadm', small] / rounds['dadm', whole]:.0f} times as many rounds (sums) as all rows. "
            f"Momentum divides the passes of dadm by {gains}.")


TEXT = """\
## DADM

A round of DADM visits a random mini-batch of the rows, shared among {workers} workers, and then sums. Logistic loss on a9a;
the error is that of the best weights so far.
"""
