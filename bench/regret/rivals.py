"""What others would have done, looked up in the tables: nothing is trained for them.

A time is a pair: seconds, and whether the goal was reached then. A run that was stopped because it had lost counts with the
time at which it was stopped, so the figures of rivals are lower bounds there.
"""

import math
import random

GOALS = [1e-1, 1e-2, 1e-3, 1e-4]  # as in the tables
NEWTON_FEATURES = 500  # of the fixed rule
RUNS = 8  # of a search
FIRST_RUNS = 3  # at random, before the model decides
LIMIT = 5  # times the oracle's: no run of a search takes longer, as if its user knew about how long it should take
REPEATS = 10  # searches with different seeds; their geometric mean counts
LENGTH = 1.0  # of the kernel, in units of the distance below
NOISE = 1e-4


def rivals(lines, error, cluster, features):
    """Seconds of each rival in one cell; `lines` are those of its table that fit on the cluster."""
    times = {key(line): time(line, error, cluster) for line in lines}
    times = at_least(times, min(times.values(), key=preference)[0])
    machines = max(line["workers"] for line in lines)
    limited = limit(times)
    searches = [search(limited, random.Random(repeat)) for repeat in range(REPEATS)]
    at_random = [random_search(limited, spent, random.Random(repeat)) for repeat, (spent, _) in enumerate(searches)]
    second_order = "newton" if features <= NEWTON_FEATURES else "l-bfgs"
    found = {
        "one worker (cocoa)": times["cocoa", 1, None],
        "all machines (cocoa-plus)": times["cocoa-plus", machines, None],
        "all machines (l-bfgs)": times["l-bfgs", machines, None],
        "all machines (newton up to 500 features, else l-bfgs)": times[second_order, machines, None],
        "system model only (cocoa-plus)": times[key(shortest_rounds(lines, cluster))],
        "Bayesian optimisation, with its runs": geometric_mean([(spent, best[1]) for spent, best in searches]),
        "Bayesian optimisation, its choice alone": geometric_mean([best for _, best in searches]),
        "random search of equal cost, its choice alone": geometric_mean(at_random),
    }
    for algorithm in sorted({algorithm for algorithm, _, _ in times}):
        own = [time for (name, _, _), time in times.items() if name == algorithm]
        found[f"{algorithm} at its best, in hindsight"] = min(own, key=preference)
    return found


def key(line):
    return line["algorithm"], line["workers"], line["local_steps"]


def time(line, error, cluster):
    """Seconds of one fixed configuration."""
    reached = line["reached"][cluster][GOALS.index(error)]
    return (last_seconds(line, cluster), False) if reached is None else (reached, True)


def last_seconds(line, cluster):
    return line["points"][-1][column(line, cluster)] if line["points"] else math.inf


def column(line, cluster):
    """Where a point has the seconds on this cluster."""
    return 3 + sorted(line["reached"]).index(cluster)


def preference(time):
    """Any run that reached the goal comes before those that did not."""
    return not time[1], time[0]


def at_least(times, oracle):
    """A run that was given up before the oracle's time counts with that time: nothing faster is known."""
    return {at: time if time[1] else (max(time[0], oracle), False) for at, time in times.items()}


def limit(times):
    longest = LIMIT * min(times.values(), key=preference)[0]
    return {at: time if time[0] <= longest or math.isinf(time[0]) else (longest, False) for at, time in times.items()}


def shortest_rounds(lines, cluster):
    """What Ernest would choose if its model were perfect: the workers with the shortest rounds."""
    one_pass = [line for line in lines if line["local_steps"] is None and line["points"]]
    candidates = [line for line in one_pass if line["algorithm"] == "cocoa-plus" or key(line) == ("cocoa", 1, None)]
    return min(candidates, key=lambda line: last_seconds(line, cluster) / line["points"][-1][0])


def search(times, rng):
    """Bayesian optimisation: what all runs took, and the best of them. A run is stopped when it is no longer the best."""
    left = list(times)
    rng.shuffle(left)
    tried, spent, best = [], 0.0, (math.inf, False)
    for run in range(min(RUNS, len(left))):
        at = left[0] if run < FIRST_RUNS else max(left, key=expected_improvement(tried, times, best))
        left.remove(at)
        tried.append(at)
        spent, best = pay(times[at], spent, best)
    while not best[1] and left:
        at = left.pop(0)
        spent, best = pay(times[at], spent, best)
    return spent, best


def random_search(times, budget, rng):
    """The best of random runs that cost as much."""
    left = list(times)
    rng.shuffle(left)
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


def expected_improvement(tried, times, best):
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
        covariances = [kernel(at, other) for other in tried]
        expected = sum(weight * covariance for weight, covariance in zip(weights, covariances))
        deviation = math.sqrt(max(1e-9, 1 - sum(part * part for part in forward(factor, covariances))))
        score = (target - expected) / deviation
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


def geometric_mean(times):
    """Reached only if all were."""
    return math.exp(sum(math.log(seconds) for seconds, _ in times) / len(times)), all(reached for _, reached in times)
