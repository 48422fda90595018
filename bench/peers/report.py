"""table.md from results.json: who is fastest in each cell, and by how much.

A cell is (dataset, loss, ε). A setting counts as reaching ε when the median of
its true errors does; its time is the median of its repeats; a cell shows the
least such time on either side. ratio = ours / best peer: below 1 we are faster.
"""

import json
import math
from itertools import groupby
from pathlib import Path
from statistics import median
from statistics import mode as mostly

from protocol import EPSILONS, reaches

RESULTS = Path(__file__).with_name("results.json")
TABLE = Path(__file__).with_name("table.md")


def best_peer(cell, epsilon):
    return least(cell["peers"], epsilon, lambda r: (r["who"], r["setting"]))


def best_ours(cell, epsilon, mode):
    """The best of our fixed choices."""
    return least([r for r in ours(cell, epsilon, mode) if "choice" not in r], epsilon, lambda r: r["who"])


def planned(cell, epsilon, mode):
    """What was chosen, mostly, when nothing was said but the goal."""
    runs = [r for r in ours(cell, epsilon, mode) if "choice" in r]
    found = least(runs, epsilon, lambda r: r["who"])
    return found and found | {"who": mostly(r["choice"] for r in runs)}


def ours(cell, epsilon, mode):
    return [r for r in cell["ours"] if r["mode"] == mode and r["epsilon"] == epsilon
            and "failed" not in r and r["said_reached"]]


def least(runs, epsilon, key):
    """The group with the least median time among those whose median error reaches ε."""
    grouped = [list(g) for _, g in groupby(sorted(runs, key=lambda r: str(key(r))), key=key)]
    medians = [middle(g) for g in grouped]
    return min((m for m in medians if reaches(m["error"], epsilon)),
               key=lambda m: m["seconds"], default=None)


def middle(runs):
    loads = [r["load_seconds"] for r in runs if r.get("load_seconds") is not None]
    return {"who": runs[0]["who"], "setting": runs[0].get("setting"), "repeats": len(runs),
            "seconds": median(r["seconds"] for r in runs),
            "error": median(r["error"] for r in runs),
            "load_seconds": median(loads) if loads else None}


def write():
    results = json.loads(RESULTS.read_text())
    TABLE.write_text("\n\n".join([fit_table(results), planned_table(results), load_table(results),
                                  made_by(results)]) + "\n")


def fit_table(results):
    lines = ["Time to reach relative error ε, in milliseconds, loading not counted. "
             "ratio = ours / best peer.", "",
             "| dataset | loss | ε | best peer | ms | ours | ms | true error | ratio | ours certified | ms |",
             "|---|---|---|---|---:|---|---:|---:|---:|---|---:|"]
    ratios = []
    for name, loss, epsilon, cell in cells(results):
        peer, ours = best_peer(cell, epsilon), best_ours(cell, epsilon, "objective")
        proven = best_ours(cell, epsilon, "certified")
        ratios.append(ratio(peer, ours))
        lines.append(row(name, loss, f"{epsilon:g}", *named(peer), *named(ours),
                         f"{ours['error']:.1e}" if ours else "", shown(ratios[-1]), *named(proven)))
    return "\n".join(lines) + "\n\n" + summary(ratios)


def planned_table(results):
    lines = ["Told nothing but the goal: no algorithm, no number of workers. All that is waited for after loading "
             "counts: looking, planning, training, scoring, switching. ratio = planned / best peer; "
             "of fixed = planned / the best of our fixed choices, both certified.", "",
             "| dataset | loss | ε | best peer | ms | planned, to the objective | ms | ratio "
             "| planned, certified | ms | ratio | best fixed, certified | ms | of fixed |",
             "|---|---|---|---|---:|---|---:|---:|---|---:|---:|---|---:|---:|"]
    found = [], [], []
    for name, loss, epsilon, cell in cells(results):
        peer, fixed = best_peer(cell, epsilon), best_ours(cell, epsilon, "certified")
        told, proven = (planned(cell, epsilon, mode) for mode in ("objective", "certified"))
        ratios = ratio(peer, told), ratio(peer, proven), ratio(fixed, proven)
        for each, value in zip(found, ratios):
            each.append(value)
        lines.append(row(name, loss, f"{epsilon:g}", *named(peer), *named(told), shown(ratios[0]),
                         *named(proven), shown(ratios[1]), *named(fixed), shown(ratios[2])))
    words = "To the objective, beside the best peer", "Certified, beside the best peer", "Beside our best fixed choice"
    summaries = [f"{word}: {summary(ratios)}" for word, ratios in zip(words, found)]
    return "\n".join(lines + [""]) + "\n" + "  \n".join(summaries)


def load_table(results):
    lines = ["The same with loading counted: the file read as it lies on disk, then the fit.", "",
             "| dataset | loss | ε | best peer | load | load + fit | ours | load | load + fit | ratio |",
             "|---|---|---|---|---:|---:|---|---:|---:|---:|"]
    ratios = []
    for name, loss, epsilon, cell in cells(results):
        peer, ours = best_peer(cell, epsilon), best_ours(cell, epsilon, "objective")
        peer = peer and peer | {"load_seconds": cell["load_seconds"]}
        peer, ours = with_loading(peer), with_loading(ours)
        ratios.append(ratio(peer, ours))
        lines.append(row(name, loss, f"{epsilon:g}", *loaded(peer), *loaded(ours), shown(ratios[-1])))
    return "\n".join(lines) + "\n\n" + summary(ratios)


def cells(results):
    for key, cell in results["cells"].items():
        for epsilon in EPSILONS:
            yield *key.rsplit("/", 1), epsilon, cell


def ratio(peer, ours):
    return ours["seconds"] / peer["seconds"] if peer and ours else None


def with_loading(best):
    if not best or best["load_seconds"] is None:
        return None
    return best | {"seconds": best["seconds"] + best["load_seconds"]}


def named(best):
    return (best["who"], f"{best['seconds'] * 1e3:.1f}") if best else ("not reached", "")


def loaded(best):
    if not best:
        return "not reached", "", ""
    return best["who"], f"{best['load_seconds'] * 1e3:.0f}", f"{best['seconds'] * 1e3:.0f}"


def shown(value):
    return "" if value is None else f"{value:.2f}"


def row(*parts):
    return "| " + " | ".join(parts) + " |"


def summary(ratios):
    known = [r for r in ratios if r is not None]
    if not known:
        return "No cell has both sides."
    mean = math.exp(sum(math.log(r) for r in known) / len(known))
    return (f"Geometric mean of the ratios {mean:.2f} over {len(known)} of {len(ratios)} cells; "
            f"{sum(r > 1.0 for r in known)} cells above 1.0, {sum(r > 1.15 for r in known)} above 1.15.")


def made_by(results):
    where = results["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return (f"Made by `{where['command']}` on {where['date']}: {where['cpu']}, {where['cores']} cores, "
            f"{where['system']}, Python {where['python']}; {packages}; {where['hemingway']}. "
            f"Medians of {where['repeats']}; P* as in pstar.json.")


if __name__ == "__main__":
    write()
