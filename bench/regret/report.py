#!/usr/bin/env python3
"""The report, in Markdown.

    bench/regret/report.py RESULTS

All cells also go to RESULTS/cells.json and RESULTS/deadlines.json, the chart to RESULTS/regret.svg.
"""

import json
import math
import sys
from pathlib import Path
from statistics import median

from plot import shares
from results import read

WITHIN = 1.1
WORSE = 1.05  # adapting counts as worse from here
FINEST = 1e-4  # the lower bounds of the tables are no closer, so smaller gaps count as this one
SHORT = 0.1  # seconds: shorter oracles are judged by milliseconds, not by ratios
PLANNER = {"first": "**planner**", "adapt-off": "**planner, `--adapt off`**",
           "second": "planner after one earlier run (seed 1)", "third": "planner after two earlier runs (seed 2)"}
RULE = "all machines (newton up to 500 features, else l-bfgs)"
GROUPS = {"loss": lambda cell: cell.problem["loss"], "λ": lambda cell: f"{cell.problem['lambda']:g}",
          "error": lambda cell: f"{cell.error:g}", "cluster": lambda cell: cell.problem["cluster"],
          "dataset": lambda cell: cell.problem["dataset"]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    cells, deadlines, unreached = read(folder)
    if not cells:
        sys.exit(f"{folder} has no tables\nhint: bench/regret/tables makes them")
    long = [cell for cell in cells if cell.oracle >= SHORT]
    (folder / "cells.json").write_text(json.dumps([cell.record() for cell in cells], indent=1))
    (folder / "deadlines.json").write_text(json.dumps(deadlines, indent=1))
    (folder / "regret.svg").write_text(shares(long))
    print("\n\n".join(part for part in sections(cells, long, deadlines, unreached) if part))


def sections(cells, long, deadlines, unreached):
    doubtful = sum(cell.doubtful for cell in cells)
    yield (f"{len(cells)} cells, {len(long)} of them with an oracle of at least {SHORT:g} s. Cells that no fixed configuration "
           f"reached, left out: {unreached}. Cells where a fixed run was given up that might have been faster: {doubtful}.")
    yield "## Seconds over the oracle's\n\n" + ratios(long)
    for name, group in GROUPS.items():
        yield f"## By {name}\n\n" + grouped(long, name, group)
    if any(cell.reports for cell in cells):
        yield "## The planner\n\n" + planner(long) + "\n" + short([cell for cell in cells if cell.oracle < SHORT])
        yield "## Predicted time\n\n" + predictions(cells)
        yield f"## Cells where adapting is more than {WORSE - 1:.0%} worse than `--adapt off`\n\n" + adapting_worse(long)
    if deadlines:
        yield "## Deadlines\n\n" + within_time(deadlines)
    yield "## Who the oracle is\n\n" + choices(cells)


def ratios(cells):
    """For the planner and each rival. Times that are lower bounds are marked ≥."""
    rows = [(title, [(*cell.planner(variant), cell.oracle) for cell in cells if variant in cell.reports])
            for variant, title in PLANNER.items()]
    names = {name: None for cell in cells for name in cell.rivals}
    others = [(name, [(*cell.rivals[name], cell.oracle) for cell in cells if name in cell.rivals]) for name in names]
    others.sort(key=lambda row: mean_ratio(row[1]))
    lines = ["| | cells | within 10 % | geometric mean | 90th percentile | 99th | worst | goal not reached |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    return "\n".join(lines + [ratio_row(name, times) for name, times in rows + others if times])


def ratio_row(name, times):
    ratios = sorted(seconds / best for seconds, _, best in times)
    missed = sum(not reached for _, reached, _ in times)
    least = "≥ " if missed else ""
    tail = " | ".join(f"{least}{value:.3g}" for value in (percentile(ratios, 0.9), percentile(ratios, 0.99), ratios[-1]))
    return f"| {name} | {len(times)} | {share_within(times):.0%} | {least}{mean_ratio(times):.2f} | {tail} | {missed} |"


def share_within(times):
    return sum(reached and seconds <= WITHIN * best for seconds, reached, best in times) / len(times)


def mean_ratio(times):
    """Geometric; runs that never began are left out."""
    logs = [math.log(seconds / best) for seconds, _, best in times if math.isfinite(seconds)]
    return math.exp(sum(logs) / len(logs)) if logs else math.inf


def percentile(ordered, share):
    return ordered[math.ceil(share * len(ordered)) - 1]


def grouped(cells, name, group):
    """The planner in full, the others by their geometric means."""
    lines = [f"| {name} | cells | planner: geometric mean | within 10 % | 90th percentile | worst | not reached "
             "| `--adapt off` | newton or l-bfgs on all machines | one worker | Bayesian optimisation |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    groups = {}
    for cell in cells:
        groups.setdefault(group(cell), []).append(cell)
    for value, members in sorted(groups.items(), key=lambda item: sortable(item[0])):
        rivals = [mean_ratio([(*cell.rivals[rival], cell.oracle) for cell in members])
                  for rival in (RULE, "one worker (cocoa)", "Bayesian optimisation, with its runs")]
        off = mean_ratio([(*cell.planner("adapt-off"), cell.oracle) for cell in members])
        figures = " | ".join("-" if math.isinf(figure) else f"{figure:.2f}" for figure in [off, *rivals])
        lines.append(f"| {value} | {len(members)} | {planner_figures(members)} | {figures} |")
    return "\n".join(lines)


def sortable(value):
    try:
        return float(value), ""
    except ValueError:
        return 0.0, value


def planner_figures(cells):
    times = [(*cell.planner("first"), cell.oracle) for cell in cells if "first" in cell.reports]
    if not times:
        return "- | - | - | - | -"
    ratios = sorted(seconds / best for seconds, _, best in times)
    missed = sum(not reached for _, reached, _ in times)
    return (f"{mean_ratio(times):.2f} | {share_within(times):.0%} | {percentile(ratios, 0.9):.3g} | {ratios[-1]:.3g} | {missed}")


def planner(cells):
    ran = [cell for cell in cells if "total_seconds" in cell.reports.get("first", {})]
    if not ran:
        return "No runs."
    over = [cell.planner("first")[0] / cell.oracle for cell in ran]
    reports = [cell.reports["first"] for cell in ran]
    failed = [f"{cell.name()} ({variant}): {report['failure'].strip()[:200]}" for cell in cells
              for variant, report in cell.reports.items() if "failure" in report]
    lines = [f"- faster than the best fixed configuration: {sum(ratio < 0.999 for ratio in over)} of {len(ran)}, by 10 % or more: "
             f"{sum(ratio <= 0.9 for ratio in over)}, the best {min(over):.2f} of its time; more than 5 % slower: "
             f"{sum(ratio > 1.05 for ratio in over)}",
             f"- overhead: {median(report['overhead_seconds'] / report['total_seconds'] for report in reports):.1%} of the time (median)",
             f"- runs that switched: {sum(bool(report.get('switches')) for report in reports)}"]
    worst = sorted(zip(over, ran), key=lambda item: -item[0])[:10]
    lines += [f"- worst: {cell.name()}: {ratio:.2f}; oracle {cell.choice} {cell.oracle:.3g} s, planner {stages(cell.reports['first'])}"
              for ratio, cell in worst]
    return "\n".join(lines + [f"- failed: {failure}" for failure in failed])


def stages(report):
    """Algorithms and workers, in the order in which they ran."""
    before = [switch["from"] for switch in report.get("switches") or [] if isinstance(switch, dict) and "from" in switch]
    return ", then ".join(f"{each.get('algorithm')} × {each.get('workers')}" for each in [*before, report])


def short(cells):
    lost = [1000 * (cell.planner("first")[0] - cell.oracle) for cell in cells if cell.planner("first")[1]]
    if not lost:
        return ""
    return (f"- oracles under {SHORT:g} s: {len(cells)} cells, {len(cells) - len(lost)} without the goal, "
            f"{median(lost):.0f} ms slower (median), {max(lost):.0f} ms (worst)")


def predictions(cells):
    """Of the plan, before the run; from the prior alone and with earlier runs of the same problem, with other seeds."""
    lines = ["| | runs | median of \\|ln(actual / predicted)\\| | 90th percentile | median of actual / predicted | inside the 90 % interval |",
             "|---|---:|---:|---:|---:|---:|"]
    titles = {"first": "prior only", "adapt-off": "prior only, `--adapt off`", "second": "after one earlier run",
              "third": "after two earlier runs"}
    for variant, title in titles.items():
        pairs = [(report["predicted_seconds"], report["total_seconds"]) for cell in cells
                 if (report := cell.reports.get(variant, {})).get("predicted_seconds") and report.get("goal_reached")]
        if pairs:
            logs = [math.log(actual / predicted["mean"]) for predicted, actual in pairs]
            off = sorted(abs(log) for log in logs)
            inside = sum(predicted["low"] <= actual <= predicted["high"] for predicted, actual in pairs) / len(pairs)
            lines.append(f"| {title} | {len(pairs)} | {median(off):.0%} | {percentile(off, 0.9):.0%} | {math.exp(median(logs)):.2f} "
                         f"| {inside:.0%} |")
    return "\n".join(lines) if len(lines) > 2 else "No predictions."


def adapting_worse(cells):
    """Also those where only the run without adapting reached the goal."""
    cells = [cell for cell in cells if "first" in cell.reports and "adapt-off" in cell.reports]
    rows = []
    for cell in cells:
        (on, reached), (off, also) = cell.planner("first"), cell.planner("adapt-off")
        if math.isfinite(off) and also and (not reached or on > WORSE * off):
            rows.append((on / off, cell))
    rows.sort(key=lambda row: -row[0])
    lines = [f"{len(rows)} of {len(cells)}.", "", "| cell | adapting / not | adapting | not | oracle |", "|---|---:|---|---|---|"]
    lines += [f"| {cell.name()} | {ratio:.2f} | {stages(cell.reports['first'])} | {stages(cell.reports['adapt-off'])} | {cell.choice} |"
              for ratio, cell in rows]
    return "\n".join(lines if rows else lines[:1])


def within_time(records):
    """Gaps to the lower bound at the deadline; below 1 the planner has the better model."""
    lines = ["| cluster | cells | objective within 1 % | gap over the oracle's: geometric mean | within a factor of 1.5 | worst "
             "| deadline kept | worst overrun | failed |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    clusters = sorted({record["cluster"] for record in records})
    for name, here in [("all", records)] + [(name, [each for each in records if each["cluster"] == name]) for name in clusters]:
        ran = [record for record in here if math.isfinite(record["planner_gap"])]
        if not ran:
            continue
        gaps = [max(record["planner_gap"], FINEST) / max(record["oracle_gap"], FINEST) for record in ran]
        mean = math.exp(sum(math.log(gap) for gap in gaps) / len(gaps))
        objective = sum(record["planner_gap"] <= 1.01 * (1 + record["oracle_gap"]) - 1 for record in ran) / len(here)
        kept = sum(record["planner_seconds"] <= record["seconds"] * (1 + 1e-6) for record in ran) / len(here)
        overrun = max(record["planner_seconds"] / record["seconds"] - 1 for record in ran)
        near = sum(gap <= 1.5 for gap in gaps) / len(here)
        lines.append(f"| {name} | {len(here)} | {objective:.0%} | {mean:.2f} | {near:.0%} | {max(gaps):.3g} | {kept:.0%} "
                     f"| {max(overrun, 0):.1%} | {len(here) - len(ran)} |")
    return "\n".join(lines)


def choices(cells):
    """How often each configuration is best."""
    lines = ["| cluster | best configurations, by how often | median seconds |", "|---|---|---:|"]
    for cluster in dict.fromkeys(cell.problem["cluster"] for cell in cells):
        here = [cell for cell in cells if cell.problem["cluster"] == cluster]
        counts = {}
        for cell in here:
            choice = cell.choice.split(",")[0] + ("*" if "steps" in cell.choice else "")
            counts[choice] = counts.get(choice, 0) + 1
        often = ", ".join(f"{choice} ({count})" for choice, count in sorted(counts.items(), key=lambda item: -item[1]))
        lines.append(f"| {cluster} | {often} | {median(cell.oracle for cell in here):.2f} |")
    return "\n".join(lines + ["", "\\* four passes of local work"])


if __name__ == "__main__":
    main()
