"""How near to the best schedule does each tuner come, after how many evaluations?

    bench/tune/run [--experiments c,a-alexnet] [--tuners hemingway,optuna] [--seeds 3] [--evaluations 30] [--jobs 1]

Every tuner runs on every experiment of the simulator with every seed. Results are kept as they come (results.jsonl), so a second
call only goes on; results of another simulator, which has another optimum, are not used. `--again` forgets those of some tuners.
"""

import argparse
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import report
import results
import rivals
import simulator
from encoding import start

OURS = "hemingway"
TUNERS = [OURS, *rivals.CATALOGUE]


@dataclass(frozen=True)
class Job:
    tuner: str
    experiment: str
    number: int  # which of the runs of this tuner on this experiment

    @property
    def seed(self):
        """Of its own for each experiment: one lucky draw must not be lucky in all of them. The same for all tuners."""
        return zlib.crc32(f"{self.experiment} {self.number}".encode())


def main():
    asked = parse()
    store = results.Results(asked.results / "results.jsonl")
    store.forget(asked.again)
    experiments = {name: simulator.describe(name) for name in select(asked.experiments)}
    jobs = [Job(tuner, name, number) for number in range(1, asked.seeds + 1) for name in experiments for tuner in asked.tuners]
    missing = [job for job in jobs if store.find(job, experiments[job.experiment], asked.evaluations) is None]
    say(f"{len(jobs)} runs, {len(jobs) - len(missing)} of them kept from before")
    failures = run_all(missing, experiments, asked, store)
    report.write(asked, experiments, jobs, store)
    print((asked.results / "table.md").read_text(), end="")
    if failures:
        sys.exit(f"{failures} runs failed\nhint: the same command runs them again")


def parse():
    parser = argparse.ArgumentParser(prog="bench/tune/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--experiments", type=names, help="names or beginnings of names such as c or c-alexnet; all by default")
    parser.add_argument("--tuners", type=names, default=TUNERS, help=f"all by default: {', '.join(TUNERS)}")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each tuner on each experiment")
    parser.add_argument("--evaluations", type=int, default=30, help="evaluations of each run")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--again", type=names, default=[], metavar="TUNERS", help="forget what is kept of these tuners")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent, help="folder of results.jsonl and table.md")
    asked = parser.parse_args()
    unknown = sorted({*asked.tuners, *asked.again} - {*TUNERS})
    if unknown:
        parser.error(f"unknown tuner {', '.join(unknown)}; there are {', '.join(TUNERS)}")
    return asked


def select(wanted):
    try:
        names = simulator.experiments()
    except (OSError, RuntimeError) as problem:
        sys.exit(f"{problem}\nhint: cargo build --release, or set HEMINGWAY_PROGRAM to the hemingway program")
    chosen = [name for name in names if not wanted or any(f"{name}-".startswith(f"{part}-") for part in wanted)]
    if not chosen:
        sys.exit(f"no experiment begins with {' or '.join(wanted)}; there are {', '.join(names)}")
    return chosen


def run_all(jobs, experiments, asked, store):
    """Runs them and keeps their results; how many failed."""
    failures = 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        running = {pool.submit(run, job, experiments[job.experiment], asked.evaluations): job for job in jobs}
        for count, finished in enumerate(as_completed(running), 1):
            job = running[finished]
            try:
                ratios = finished.result()
            except Exception as problem:  # one run that fails must not lose the others
                failures += 1
                say(f"{count}/{len(jobs)} {job.experiment} {job.tuner} run {job.number}: failed: {problem}")
                continue
            store.keep(job, experiments[job.experiment], ratios)
            say(f"{count}/{len(jobs)} {job.experiment} {job.tuner} run {job.number}: {report.shown(ratios[-1])}")
    return failures


def run(job, description, evaluations):
    """After each evaluation: exact seconds of the schedule that would be chosen / seconds of the best one."""
    if job.tuner == OURS:
        chosen = simulator.our_tuner(job.experiment, job.seed, evaluations)
    else:
        chosen = run_rival(job, description, evaluations)
    chosen += chosen[-1:] * (evaluations - len(chosen))  # a tuner that stopped early keeps its choice
    return [seconds and seconds / description["optimum"] for seconds in chosen]


def run_rival(job, description, evaluations):
    search, encode = rivals.CATALOGUE[job.tuner]
    encoding = encode(description)
    with simulator.Simulator(job.experiment, job.seed) as simulated:
        measure = lambda values: simulated.seconds(encoding.configuration(values))  # noqa: E731
        search(list(encoding.parameters()), start(encoding), measure, evaluations, job.seed)
        return simulated.chosen()


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
