"""Decentralised SGD on a ring: what rounding messages to a few bits saves, and what it costs."""

import os
import tempfile

from plot import Axis, Line, chart, thinned
from trainer import errors

DATA, LAMBDA, WORKERS, ROUNDS, EVERY = "a9a.libsvm.gz", "1e-3", 8, 20000, 25
# One score of four is of the weights of the round alone, the others of their average: of each four the lowest is taken.
TOGETHER = 4
RUNS = [("d-psgd", None), ("dcd-psgd", 2), ("dcd-psgd", 4), ("dcd-psgd", 8), ("ecd-psgd", 2), ("ecd-psgd", 4), ("ecd-psgd", 8), ("ecd-psgd", None)]
ERROR, FEATURES, BLOCK = 1e-2, 123, 128


def measure(trainer):
    optimum = trainer.optimum(DATA, "--lambda", LAMBDA)
    runs = {}
    for algorithm, bits in RUNS:
        run = trainer.run(DATA, "--lambda", LAMBDA, "--algorithm", algorithm, "--workers", WORKERS, *(["--bits", bits] if bits else []),
                          "--rounds", ROUNDS, "--score-every", EVERY)
        scored = [(point["bytes_per_worker"], error, point["round"]) for point, error in errors(run, optimum, "current")]
        groups = [scored[at:at + TOGETHER] for at in range(0, len(scored), TOGETHER)]
        points = [(*group[-1][:1], min(error for _, error, _ in group), group[-1][2]) for group in groups]
        runs[algorithm, bits] = {"points": points, "report": run["report"]}
    return {"runs": runs, "refusal": refusal(trainer)}


def refusal(trainer):
    """What is said to a ring of four whose workers have no weight of their own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ring")
        with open(path, "w") as file:
            file.write("".join(" ".join("1/2" if (i - j) % 2 else "0" for j in range(4)) + "\n" for i in range(4)))
        code, said = trainer.refusal(DATA, "--algorithm", "d-psgd", "--workers", 4, "--topology", path, "--rounds", 1)
        return code, said.splitlines()[0].replace(path, "ring")


def name(algorithm, bits):
    return f"{algorithm}, {bits} bits" if bits else f"{algorithm}, exact"


def figures(results):
    order = {"d-psgd": {None: 6}, "dcd-psgd": {2: 0, 4: 5, 8: 2}, "ecd-psgd": {2: 1, 4: 4, 8: 3}}
    lines = [Line(name(algorithm, bits), thinned([point[:2] for point in run["points"]]), order[algorithm][bits], dashed=algorithm == "ecd-psgd")
             for (algorithm, bits), run in results["runs"].items() if bits in order[algorithm]]
    low = min(point[0] for line in lines for point in line.points)
    high = max(point[0] for line in lines for point in line.points)
    return {"compression": chart(f"Decentralised SGD on a ring of {WORKERS}, a9a, λ = {LAMBDA}", Axis("bytes sent by each worker", low, high, 10),
                                 Axis("relative error", 1e-5, 100, 10), lines)}


def rows(results):
    body = [[algorithm, bits or 64, number, f"{sent:.0f}", f"{error:.4g}"]
            for (algorithm, bits), run in results["runs"].items() for sent, error, number in thinned(run["points"], 60)]
    return {"compression": [["algorithm", "bits", "round", "bytes_per_worker", "error"], *body]}


def promised(bits):
    """64 bits over those of a number and its part of a scale of 64 bits, which a block of up to 128 numbers shares."""
    numbers = min(FEATURES, BLOCK)
    return 64 / (bits + 64 / numbers)


def section(results):
    runs = results["runs"]
    exact = per_round(runs["d-psgd", None])
    lines = ["| algorithm | bits | bytes per worker and round | factor promised | measured | bytes to 1e-2 | error after "
             f"{ROUNDS // 10:,} rounds | after {ROUNDS:,} | lowest |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for (algorithm, bits), run in runs.items():
        reached = next((sent for sent, error, _ in run["points"] if error <= ERROR), None)
        late = next(error for _, error, number in run["points"] if number >= ROUNDS // 10)
        factors = (f"{promised(bits):.1f}", f"{exact / per_round(run):.1f}") if bits else ("1", f"{exact / per_round(run):.1f}")
        lines.append(f"| {algorithm} | {bits or 64} | {per_round(run):.0f} | {factors[0]} | {factors[1]} | "
                     f"{f'{reached:,.0f}' if reached else 'not reached'} | {late:.2g} | {run['points'][-1][1]:.2g} | {min(p[1] for p in run['points']):.2g} |")
    code, said = results["refusal"]
    return TEXT.format(workers=WORKERS, table="\n".join(lines), finding=finding(runs), said=said, code=code, every=EVERY * TOGETHER)


def per_round(run):
    """Bytes of one round; setting up, which is the same for all, left out."""
    (first, _, begin), (last, _, end) = run["points"][0], run["points"][-1]
    return (last - first) / (end - begin)


def finding(runs):
    last = {key: run["points"][-1][1] for key, run in runs.items()}
    lowest = {key: min(run["points"], key=lambda point: point[1]) for key, run in runs.items()}
    dcd, ecd = ("dcd-psgd", 2), ("ecd-psgd", 2)
    text = (f"With 3 levels (2 bits) dcd-psgd {'still falls' if lowest[dcd][2] > 0.9 * ROUNDS else 'no longer falls'}: {last[dcd]:.2g} after {ROUNDS:,} rounds; "
            f"ecd-psgd is at {last[ecd]:.2g} and was never below {lowest[ecd][1]:.2g}. ")
    for bits in (4, 8):
        low = lowest["ecd-psgd", bits]
        text += f"With {bits} bits ecd-psgd is best in round {low[2]:,} ({low[1]:.2g}) and is at {last['ecd-psgd', bits]:.2g} in the end. "
    return text + (f"dcd-psgd with 8 bits ends at {last['dcd-psgd', 8]:.2g}, exact d-psgd at {last['d-psgd', None]:.2g}; ecd-psgd without `--bits` at "
                   f"{last['ecd-psgd', None]:.2g}.")


TEXT = """\
## Compressed messages

![Error against bytes](algorithms/compression.svg)

A ring of {workers} workers, each with a third of the weight of itself and of its two neighbours; logistic loss on a9a. The
error is that of the mean of all workers' weights or of its average over recent rounds, the lower of the two, every {every}
rounds. dcd-psgd sends rounded differences, ecd-psgd rounded extrapolations, which grow with the rounds; without `--bits` both are
d-psgd.

{table}

{finding}

A number of b bits and its part of a scale that a block of numbers shares take b + 64/123 bits here, which is the factor that is
promised; whole bytes are sent.

An even ring whose workers have no weight of their own falls into two groups that swap their weights for ever. It is refused,
with exit code {code}:

```text
{said}
```
"""
