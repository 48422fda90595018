"""What others would have done, looked up in the oracle's tables: nothing is trained for them.

A time is a pair: seconds, and whether the goal was reached then. A run that was cut short because it had lost counts with
the time at which it was cut, so the figures of rivals are lower bounds there.
"""

import math
import random

RUNS = 8  # of a search
FIRST_RUNS = 3  # at random, before the model has a say
LIMIT = 5  # times the oracle's: no run of a search takes longer, as if its user knew about how long it should take
REPEATS = 10  # searches with different luck; their geometric mean counts
LENGTH = 1.0  # of the kernel, in the units of `place`
NOISE = 1e-4


def rivals(lines, goal, cluster, workers):
    """Seconds of each rival in one cell; `lines` is the table of its problem."""
    times = {key(line): time(line, goal, cluster) for line in lines}
    limited = limit(times)
    searches = [search(limited, random.Random(repeat)) for repeat in range(REPEATS)]
    at_random = [wander(limited, spent, random.Random(repeat)) for repeat, (spent, _) in enumerate(searches)]
    found = {
        "one worker (cocoa)": times[("cocoa", 1, None)],
        "all workers (cocoa-plus)": times[("cocoa-plus", workers, None)],
        "system model only (cocoa-plus)": time(quickest_rounds(lines, cluster), goal, cluster),
        "Bayesian optimisation, with its runs": middle([(spent, best[1]) for spent, best in searches]),
        "Bayesian optimisation, its choice alone": middle([best for _, best in searches]),
        "random search of equal cost, its choice alone": middle(at_random),
    }
    for algorithm in sorted({algorithm for algorithm, _, _ in times}):
        own = [time for (name, _, _), time in times.items() if name == algorithm]
        found[f"{algorithm} at its best, in hindsight"] = min(own, key=preference)
    return found


def key(line):
    return line["algorithm"], line["workers"], line["local_steps"]


def time(line, goal, cluster):
    """Seconds of one fixed configuration. `goal` and `cluster` are places in the lists of the table."""
    reached = line["reached"][goal]
    if reached:
        return reached[cluster], True
    return (line["points"][-1][4 + cluster] if line["points"] else math.inf), False


def preference(time):
    """Any run that reached the goal comes before those that did not."""
    return not time[1], time[0]


def limit(times):
    longest = LIMIT * min(times.values(), key=preference)[0]
    return {at: time if time[0] <= longest or math.isinf(time[0]) else (longest, False) for at, time in times.items()}


def quickest_rounds(lines, cluster):
    """What Ernest would choose if its model were perfect: the workers with the shortest rounds."""
    candidates = [line for line in lines if line["algorithm"] == "cocoa-plus" and line["local_steps"] is None]
    return min(candidates, key=lambda line: line["points"][-1][4 + cluster] / line["points"][-1][0])


def search(times, luck):
    """Bayesian optimisation: what all runs took, and the best of them. A run is stopped when it is no longer the best."""
    left = list(times)
    luck.shuffle(left)
    tried, spent, best = [], 0.0, (math.inf, False)
    for run in range(min(RUNS, len(left))):
        at = left[0] if run < FIRST_RUNS else max(left, key=promise(tried, times, best))
        left.remove(at)
        tried.append(at)
        spent, best = pay(times[at], spent, best)
    while not best[1] and left:
        at = left.pop(0)
        spent, best = pay(times[at], spent, best)
    return spent, best


def wander(times, budget, luck):
    """The best of random runs that cost as much."""
    left = list(times)
    luck.shuffle(left)
    spent, best = 0.0, (math.inf, False)
    while left and (spent < budget or not best[1]):
        spent, best = pay(times[left.pop()], spent, best)
    return best


def pay(time, spent, best):
    """After one more run. It costs no more than the best one so far; runs that were refused cost nothing."""
    if math.isinf(time[0]):
        return spent, best
    cost = min(time[0], best[0]) if best[1] else time[0]
    return spent + cost, min(time, best, key=preference)


def promise(tried, times, best):
    """Expected improvement of log seconds under a Gaussian process."""
    tried = [at for at in tried if math.isfinite(times[at][0])]
    values = [math.log(times[at][0]) for at in tried]
    if not values:
        return lambda at: 0.0
    mean = sum(values) / len(values)
    spread = max(math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)), 0.1)
    factor = cholesky([[kernel(a, b) + NOISE * (a == b) for b in tried] for a in tried])
    weights = backward(factor, forward(factor, [(value - mean) / spread for value in values]))
    target = (math.log(best[0]) - mean) / spread if best[1] else (min(values) - mean) / spread

    def improvement(at):
        likeness = [kernel(at, other) for other in tried]
        middle = sum(weight * like for weight, like in zip(weights, likeness))
        deviation = math.sqrt(max(1e-9, 1 - sum(part * part for part in forward(factor, likeness))))
        score = (target - middle) / deviation
        density = math.exp(-score * score / 2) / math.sqrt(2 * math.pi)
        return deviation * (score * (1 + math.erf(score / math.sqrt(2))) / 2 + density)

    return improvement


def kernel(a, b):
    """Algorithms are one unit apart, one worker and 64 are two."""
    distance = (a[0] != b[0]) + ((math.log2(a[1]) - math.log2(b[1])) / 3) ** 2 + ((a[2] is None) != (b[2] is None))
    return math.exp(-distance / (2 * LENGTH * LENGTH))


def cholesky(matrix):
    factor = [[0.0] * len(matrix) for _ in matrix]
    for i, row in enumerate(matrix):
        for j in range(i + 1):
            rest = row[j] - sum(factor[i][k] * factor[j][k] for k in range(j))
            factor[i][j] = math.sqrt(rest) if i == j else rest / factor[j][j]
    return factor


def forward(factor, values):
    solved = []
    for row, value in zip(factor, values):
        solved.append((value - sum(a * b for a, b in zip(row, solved))) / row[len(solved)])
    return solved


def backward(factor, values):
    size = len(values)
    solved = [0.0] * size
    for i in reversed(range(size)):
        solved[i] = (values[i] - sum(factor[k][i] * solved[k] for k in range(i + 1, size))) / factor[i][i]
    return solved


def middle(times):
    """The geometric mean; reached only if all were."""
    return math.exp(sum(math.log(seconds) for seconds, _ in times) / len(times)), all(reached for _, reached in times)
