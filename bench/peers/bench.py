"""The benchmark's entry: arguments, then one race per (dataset, loss), each written down at once."""

import argparse
import json
import statistics
import sys
from pathlib import Path

import datasets
import environment
import ours
import peers
import protocol
import pstar
import report
from objective import LOSSES
from peer import timed


def main():
    arguments = parse()
    if arguments.list:
        return show_catalogue()
    sets, losses = datasets.select(arguments.only), arguments.losses.split(",")
    if arguments.pstar:
        return pstar.recompute(sets, losses)
    binary = found(arguments)
    results = kept() if arguments.keep else {"cells": {}}
    results["environment"] = environment.describe(sys.argv[1:], binary, arguments.repeats)
    for dataset in sets:
        seconds, data = load(dataset)
        for loss in losses:
            say(f"{dataset.name} {loss}   (loaded in {seconds:.2f} s)")
            cell = race(dataset, data, loss, binary, arguments) | {"load_seconds": seconds}
            results["cells"][f"{dataset.name}/{loss}"] = cell
            report.RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            report.write()
            conclude(cell)


def parse():
    parser = argparse.ArgumentParser(prog="./run", description="hemingway train beside its peers")
    parser.add_argument("--only", help="datasets, separated by commas; all by default")
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--peers", default=",".join(peers.SOURCES), help="sources of peers")
    parser.add_argument("--algorithms", default="cocoa,l-bfgs,newton", help="ours")
    parser.add_argument("--workers", default="1,2", help="numbers of our workers")
    parser.add_argument("--modes", default=",".join(ours.MODES), help="our goals")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cap", type=float, default=20.0, help="seconds a single fit may take")
    parser.add_argument("--hemingway", type=Path, default=Path("../../target/release/hemingway"),
                        help="our binary, relative to this folder")
    parser.add_argument("--no-ours", action="store_true", help="time the peers alone")
    parser.add_argument("--keep", action="store_true", help="keep other cells of results.json")
    parser.add_argument("--pstar", action="store_true", help="recompute pstar.json and end")
    parser.add_argument("--list", action="store_true", help="show what there is and end")
    return parser.parse_args()


def show_catalogue():
    print("datasets:", *(d.name for d in datasets.CATALOGUE))
    print("losses:  ", *LOSSES)
    print("peers:   ", *peers.SOURCES)
    print("epsilons:", *protocol.EPSILONS)


def found(arguments):
    """Our binary, or None when only the peers are wanted."""
    if arguments.no_ours:
        return None
    binary = (Path(__file__).parent / arguments.hemingway).resolve()
    if not binary.exists():
        sys.exit(f"there is no {arguments.hemingway}\nhint: cargo build --release, or --hemingway "
                 "FILE, or --no-ours to time the peers alone")
    return binary


def kept():
    return json.loads(report.RESULTS.read_text()) if report.RESULTS.exists() else {"cells": {}}


def load(dataset):
    """The set, and the median of three times it took to read."""
    runs = [timed(lambda: dataset.load(datasets.folder())) for _ in range(3)]
    return statistics.median(r[0] for r in runs), datasets.Prepared(dataset, *runs[-1][1])


def race(dataset, data, loss, binary, arguments):
    optimum = pstar.optimum(dataset.name, loss)
    limits = protocol.Limits(arguments.repeats, arguments.cap)
    judge = protocol.Judge(data, loss, optimum)
    field = peers.build(data, loss, arguments.peers.split(","))
    trials = protocol.scout(field, judge, limits, say)
    runner, mine, scouting = None, [], []
    if binary:
        runner = ours.Runner(binary, (datasets.folder() / dataset.file).resolve(), dataset, data,
                             loss, optimum, limits.cap + 10)
        modes = arguments.modes.split(",")
        mine, scouting = protocol.our_contenders(runner, our_entries(arguments), modes, limits, say)
        mine += protocol.planned(ours.Planned(), modes)
    theirs = protocol.peer_contenders(field, trials, limits)
    peer_runs, our_runs = protocol.repeat(judge, theirs, runner, mine, limits)
    return {"optimum": optimum, "peers": peer_runs, "ours": our_runs,
            "peer_scouting": trials, "our_scouting": scouting}


def our_entries(arguments):
    workers = [int(k) for k in arguments.workers.split(",")]
    return ours.entries(arguments.algorithms.split(","), workers)


def conclude(cell):
    for epsilon in protocol.EPSILONS:
        peer, mine = report.best_peer(cell, epsilon), report.best_ours(cell, epsilon, "objective")
        plan = report.planned(cell, epsilon, "certified")
        say(f"  {epsilon:g}: best peer {' '.join(report.named(peer))}, ours {' '.join(report.named(mine))}, "
            f"planned and certified {' '.join(report.named(plan))}")


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
