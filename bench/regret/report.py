"""The tables, in Markdown."""

import math
from statistics import median

import oracle

WITHIN = 1.1
FINEST = 1e-4  # the lower bounds of the tables are no closer, so smaller gaps count as this one
SHORT = 1.0  # seconds: shorter oracles are judged by milliseconds, not by ratios


def report(cells, deadlines, unfinished):
    long = [cell for cell in cells if cell.oracle >= SHORT]
    parts = [f"{len(cells)} cells, {len(long)} of them with an oracle of at least {SHORT:g} s. "
             f"Fixed runs that were given up before they had lost, so that the oracle might be better: {unfinished}."]
    for cluster in oracle.CLUSTERS:
        parts.append(f"## Cluster: {cluster}\n\n" + ratios([cell for cell in long if cell.cluster == cluster]))
    parts.append("## All clusters\n\n" + ratios(long))
    parts.append("## Who the oracle is\n\n" + choices(cells))
    if has_planner(cells):
        parts.append("## The planner by itself\n\n" + planner(long) + "\n" + short([c for c in cells if c.oracle < SHORT]))
    if deadlines:
        parts.append("## Deadlines\n\n" + within_time(deadlines))
    return "\n\n".join(parts)


def has_planner(cells):
    return any(cell.answer for cell in cells)


def ratios(cells):
    """Seconds over the oracle's, for the planner and each rival."""
    if not cells:
        return "No cells."
    names = sorted({name for cell in cells for name in cell.rivals})
    rows = [(name, [(*cell.rivals[name], cell.oracle) for cell in cells if name in cell.rivals]) for name in names]
    rows.sort(key=lambda row: mean_ratio(row[1]))
    if has_planner(cells):
        rows.insert(0, ("the oracle's choice, scored as usual", [(*cell.as_told, cell.oracle) for cell in cells]))
        rows.insert(0, ("planner, over the row below", [(*cell.planner, cell.as_told[0]) for cell in cells]))
        rows.insert(0, ("**planner**", [(*cell.planner, cell.oracle) for cell in cells]))
    lines = ["| | cells | within 10 % | geometric mean | worst | goal not reached |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [ratio_row(name, times) for name, times in rows])


def ratio_row(name, times):
    ratios = [seconds / best for seconds, _, best in times]
    missed = sum(not reached for _, reached, _ in times)
    good = sum(ratio <= WITHIN and reached for ratio, (_, reached, _) in zip(ratios, times))
    least = "≥ " if missed else ""
    return f"| {name} | {len(times)} | {good / len(times):.0%} | {least}{mean_ratio(times):.2f} | {least}{max(ratios):.3g} | {missed} |"


def mean_ratio(times):
    """Geometric; runs that never began are left out."""
    logs = [math.log(seconds / best) for seconds, _, best in times if math.isfinite(seconds)]
    return math.exp(sum(logs) / len(logs)) if logs else math.inf


def choices(cells):
    """How often each algorithm and each number of workers is best."""
    lines = ["| cluster | oracle: best configurations, by how often | median seconds |", "|---|---|---|"]
    for cluster in oracle.CLUSTERS:
        here = [cell for cell in cells if cell.cluster == cluster]
        counts = {}
        for cell in here:
            counts[cell.choice] = counts.get(cell.choice, 0) + 1
        often = ", ".join(f"{choice} ({count})" for choice, count in sorted(counts.items(), key=lambda item: -item[1]))
        lines.append(f"| {cluster} | {often} | {median([cell.oracle for cell in here]) if here else 0:.2f} |")
    return "\n".join(lines)


def planner(cells):
    answers = [cell.answer for cell in cells if cell.answer and "failure" not in cell.answer]
    over = [cell.planner[0] / cell.oracle for cell in cells]
    lines = [f"- better than the best fixed configuration: {sum(ratio < 0.999 for ratio in over)} of {len(cells)}, by 10 % or more: "
             f"{sum(ratio <= 0.9 for ratio in over)}, the best {min(over):.2f} of its time; more than 5 % worse: {sum(ratio > 1.05 for ratio in over)}"]
    failures = sum("failure" in (cell.answer or {}) for cell in cells)
    lines += [f"- failed: {failures}"] * bool(failures)
    overheads = [answer["overhead_seconds"] / answer["total_seconds"] for answer in answers if "overhead_seconds" in answer]
    lines += [f"- overhead: {median(overheads):.1%} of the time (median)"] if overheads else []
    switched = sum(bool(answer.get("switches")) for answer in answers)
    lines += [f"- changed its mind while training: {switched} times"] * bool(switched)
    predictions = [(answer["plan"]["predicted_seconds"], answer["total_seconds"]) for answer in answers
                   if (answer.get("plan") or {}).get("predicted_seconds")]
    if predictions:
        errors = [abs(predicted["mean"] / actual - 1) for predicted, actual in predictions]
        inside = sum(predicted["low"] <= actual <= predicted["high"] for predicted, actual in predictions)
        lines.append(f"- predicted time off by {median(errors):.0%} (median); {inside / len(predictions):.0%} inside their interval")
    return "\n".join(lines)


def short(cells):
    reached = [1000 * (cell.planner[0] - cell.oracle) for cell in cells if cell.planner[1]]
    if not reached:
        return ""
    return (f"- oracles under {SHORT:g} s: {len(cells)} cells, {len(cells) - len(reached)} without the goal, "
            f"loss {median(reached):.0f} ms (median), {max(reached):.0f} ms (worst)")


def within_time(records):
    """Gaps to the lower bound at the deadline; below 1 the planner has the better model."""
    lines = ["| cluster | cells | gap over the oracle's: geometric mean | worst | within a factor of 1.5 | objective within 5 % "
             "| deadline kept | worst overrun |", "|---|---|---|---|---|---|---|---|"]
    for cluster in oracle.CLUSTERS:
        here = [record for record in records if record["cluster"] == cluster]
        if here:
            gaps = [max(record["planner_gap"], FINEST) / max(record["oracle_gap"], FINEST) for record in here]
            finite = [math.log(gap) for gap in gaps if math.isfinite(gap)]
            mean = math.exp(sum(finite) / len(finite)) if finite else math.inf
            overrun = max(record["planner_seconds"] / record["seconds"] - 1 for record in here)
            near = sum(gap <= 1.5 for gap in gaps) / len(here)
            objective = sum(record["planner_gap"] <= 1.05 * (1 + record["oracle_gap"]) - 1 for record in here) / len(here)
            kept = sum(record["planner_seconds"] <= record["seconds"] * (1 + 1e-6) for record in here) / len(here)
            lines.append(f"| {cluster} | {len(here)} | {mean:.2f} | {max(gaps):.3g} | {near:.0%} | {objective:.0%} | {kept:.0%} "
                         f"| {max(overrun, 0):.1%} |")
    return "\n".join(lines)
