"""table.md: median and worst ratio of each tuner over experiments and seeds, after some numbers of evaluations."""

import datetime
import platform
from importlib.metadata import version
from statistics import median

POINTS = (5, 10, 20, 30)  # evaluations
FAILED = float("inf")  # the ratio as long as every evaluation has failed


def write(asked, experiments, jobs, store):
    runs = {tuner: [] for tuner in asked.tuners}
    for job in jobs:
        found = store.find(job, experiments[job.experiment], asked.evaluations)
        if found is not None:
            runs[job.tuner].append([FAILED if ratio is None else ratio for ratio in found])
    guessed = any("speeds" in machine for each in experiments.values() for machine in each["machines"])
    start = "loads by the guesses of speed that `hemingway tune` has too" if guessed else "the uniform schedule"
    parts = [INTRODUCTION.format(start=start), table(runs, experiments.values(), asked.evaluations), made_by(asked, experiments)]
    (asked.results / "table.md").write_text("\n\n".join(parts) + "\n")


INTRODUCTION = """\
Seconds per iteration of the schedule that a tuner would choose / seconds of the best schedule, both without noise, on the
simulator's experiments. Median (worst) over experiments and seeds after so many evaluations. `-types`: machines of one type
share their parameters. All rivals begin with {start}."""


def table(runs, descriptions, evaluations):
    points = [point for point in POINTS if point <= evaluations] or [evaluations]
    uniform = [description["uniform"] / description["optimum"] for description in descriptions]
    lines = [row("tuner", "runs", *(f"at {point}" for point in points)), "|---|---:|" + "---:|" * len(points),
             row("uniform schedule, not tuned", len(uniform), *[spread(uniform)] * len(points))]
    for tuner, ratios in runs.items():
        at = lambda point: spread([each[point - 1] for each in ratios]) if ratios else ""  # noqa: E731
        lines.append(row(tuner, len(ratios), *map(at, points)))
    return "\n".join(lines)


def spread(ratios):
    return f"{shown(median(ratios))} ({shown(max(ratios))})"


def shown(ratio):
    return "failed" if ratio in (None, FAILED) else f"{ratio:.3f}"


def row(*parts):
    return "| " + " | ".join(map(str, parts)) + " |"


def made_by(asked, experiments):
    packages = ", ".join(f"{name} {version(name)}" for name in ("optuna", "opentuner"))
    names = f"{len(experiments)} experiments" if len(experiments) > 3 else ", ".join(experiments)
    return (f"{names}; {asked.seeds} run{'s' * (asked.seeds > 1)} of each tuner on each, {asked.evaluations} evaluations. Made by `bench/tune/run` on "
            f"{datetime.date.today().isoformat()} with {packages}, Python {platform.python_version()}.")
