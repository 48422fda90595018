"""Every algorithm of the catalogue on one problem, until the same certified error."""

DATA, LAMBDA, WORKERS, ERROR = "a9a.libsvm.gz", "1e-3", 4, "1e-3"
MOST_ROUNDS = 20000


def flags(algorithm):
    return ["--lambda", LAMBDA, "--algorithm", algorithm, "--workers", WORKERS, "--error", ERROR, "--rounds", MOST_ROUNDS]


def measure(trainer):
    catalogue = trainer.json(["algorithms", "--json"])["algorithms"]
    return {entry["name"]: {**trainer.run(DATA, *flags(entry["name"])), "entry": entry} for entry in catalogue}


def figures(results):
    return {}


def rows(results):
    header = ["algorithm", "reached", "certified_error", "rounds", "iterations", "epochs", "bytes_per_worker", "seconds", "step_size"]
    return {"every": [header, *([name, run["report"]["goal_reached"], *(run["report"].get(key, "") for key in header[2:])] for name, run in results.items())]}


def section(results):
    lines = ["| algorithm | rounds | iterations | passes | bytes per worker | seconds | step size | noise floor | certified error |", "|---|---:|---:|---:|---:|---:|---:|---|---:|"]
    for name, run in sorted(results.items(), key=lambda item: (not item[1]["report"]["goal_reached"], item[1]["report"]["seconds"])):
        report = run["report"]
        size = f"{report['step_size']:.3g}" if report.get("step_size") else ""
        lines.append(f"| {name} | {report['rounds']:,} | {report['iterations']:,} | {report['epochs']:.1f} | {report['bytes_per_worker']:,.0f} | "
                     f"{report['seconds']:.2e} | {size} | {'yes' if run['entry']['noise_floor'] else ''} | {report['certified_error']:.1e}{'' if report['goal_reached'] else ', not reached'} |")
    missed = [name for name, run in results.items() if not run["report"]["goal_reached"]]
    reached = len(results) - len(missed)
    said = f"{reached} of {len(results)} algorithms certify it."
    for name in missed:
        report = results[name]["report"]
        said += f" {name} stands at {report['certified_error']:.1e} after {report['rounds']:,} rounds and {report['epochs']:.0f} passes."
    if not missed:
        said += " None that has a noise floor has it above that error here: floors fall as steps shrink."
    return TEXT.format(table="\n".join(lines), said=said, workers=WORKERS, error=ERROR,
                       command=" ".join(map(str, ["hemingway train", DATA, *flags("NAME"), "\\\n      --engine simulated --cluster bench/algorithms/cluster.toml"])))


TEXT = """\
## Every algorithm

a9a, logistic loss, {workers} simulated workers, defaults, step sizes as each algorithm finds them by itself, until a certified error
of {error}. The search is part of passes, bytes and seconds, scoring is not; seconds are those of the simulated cluster. Sorted by seconds.

    {command}

{table}

{said} Iterations are
steps, batches or rounds, as `hemingway algorithms NAME` says. That an algorithm comes first here says little of other data:
`hemingway explain` is there for that.
"""
