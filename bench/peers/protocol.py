"""The race for one (dataset, loss): scout everybody once, then repeat the contenders side by side.

Scouting walks each peer's ladder from quick to exact and notes time and true
error. A peer's ladder ends when it has reached the tightest ε, when a fit nears
the cap, or when it is twice running far slower than somebody who is already there.
The fastest few at each ε, ours and theirs, then run again in turns: one of each,
then one of each again, so that noise of the machine falls on all alike.
"""

from dataclasses import dataclass

from objective import primal, relative_error

EPSILONS = (1e-2, 1e-3, 1e-4)
SLACK = 1e-6  # float32 data and rounding; for everybody
HOPELESS = 2.5  # times slower than the best time to the tightest ε: give up
NEAR = 1.6  # a scouted time within this factor of the best may win the repeats
QUICK = 0.3  # seconds; quicker fits are scouted three times


@dataclass(frozen=True)
class Limits:
    repeats: int
    cap: float  # seconds per fit
    most_peers: int = 4  # contenders at each ε
    most_ours: int = 2


def reaches(error, epsilon):
    return error <= epsilon + SLACK


class Judge:
    """Turns a fit into (seconds, true error)."""

    def __init__(self, data, loss, optimum):
        self.data, self.loss, self.optimum = data, loss, optimum

    def trial(self, peer, setting, seed):
        seconds, weights = peer.fit(setting, seed)
        value = primal(self.loss, self.data.matrix(), self.data.labels, weights)
        return {"who": peer.name, "setting": setting, "seconds": seconds,
                "error": relative_error(value, self.optimum)}


def scout(peers, judge, limits, say):
    trials, best = [], float("inf")
    for peer in peers:
        ended, late = "end of its ladder", 0
        for setting in peer.ladder:
            try:
                trial = quickest(peer, judge, setting)
            except Exception as problem:  # a peer that cannot do this set is reported, not fatal
                ended = f"failed: {problem}"
                break
            trials.append(trial)
            if reaches(trial["error"], EPSILONS[-1]):
                best, ended = min(best, trial["seconds"]), "reached the tightest ε"
                break
            if trial["seconds"] > limits.cap / 1.5:
                ended = "cap"
                break
            late = late + 1 if trial["seconds"] > HOPELESS * best else 0
            if late == 2:
                ended = f"{HOPELESS:g} times slower than the best"
                break
        say(scouted(peer, trials, ended))
    return trials


def quickest(peer, judge, setting):
    first = judge.trial(peer, setting, seed=1)
    if first["seconds"] > QUICK:
        return first
    again = [judge.trial(peer, setting, seed=s) for s in (2, 3)]
    return min([first, *again], key=lambda trial: trial["seconds"]) | {
        "error": sorted(t["error"] for t in [first, *again])[1]}


def scouted(peer, trials, ended):
    own = [t for t in trials if t["who"] == peer.name]
    times = " ".join(f"{milliseconds(own, e):>9}" for e in EPSILONS)
    return f"  {peer.name:28} {times}  {ended}"


def milliseconds(trials, epsilon):
    times = [t["seconds"] for t in trials if reaches(t["error"], epsilon)]
    return f"{min(times) * 1e3:.1f}" if times else "-"


def peer_contenders(peers, trials, limits):
    """(peer, setting) pairs worth repeating: near the best at some ε, and the two rungs above them."""
    chosen = {}
    for epsilon in EPSILONS:
        fastest = {}
        for trial in sorted(trials, key=lambda t: t["seconds"]):
            if reaches(trial["error"], epsilon):
                fastest.setdefault(trial["who"], trial)
        ranked = sorted(fastest.values(), key=lambda t: t["seconds"])[:limits.most_peers]
        for trial in ranked:
            if trial["seconds"] <= NEAR * ranked[0]["seconds"]:
                peer = next(p for p in peers if p.name == trial["who"])
                at = peer.ladder.index(trial["setting"])
                for setting in peer.ladder[at:at + 3]:
                    chosen[peer.name, setting] = peer, setting
    return list(chosen.values())


def our_contenders(runner, entries, modes, limits, say):
    """(entry, mode, ε) triples worth repeating: the fastest few that reach ε, and why others did not."""
    chosen, scouting, out = [], [], set()
    for mode in modes:
        for epsilon in EPSILONS:
            found = []
            for entry in entries:
                if (entry, mode) in out:
                    continue
                result = runner.run(entry, mode, epsilon, seed=1)
                scouting.append({"who": entry.name, "mode": mode, "epsilon": epsilon} | result)
                if "failed" not in result and result["said_reached"] and reaches(result["error"], epsilon):
                    found.append((result["seconds"], entry))
                else:
                    out.add((entry, mode))  # a tighter ε will not go better
            found.sort(key=lambda pair: pair[0])
            chosen += [(entry, mode, epsilon) for _, entry in found[:limits.most_ours]]
            say(f"  ours {mode} {epsilon:g}: "
                + (", ".join(f"{e.name} {s * 1e3:.1f}" for s, e in found) or "not reached"))
    return chosen, scouting


def planned(entry, modes):
    """It is repeated whatever it takes."""
    return [(entry, mode, epsilon) for mode in modes for epsilon in EPSILONS]


def repeat(judge, peers, runner, ours, limits):
    """All contenders in turn, `repeats` times over."""
    theirs, mine = [], []
    for seed in range(1, limits.repeats + 1):
        theirs += [judge.trial(peer, setting, seed) for peer, setting in peers]
        mine += [{"who": entry.name, "mode": mode, "epsilon": epsilon}
                 | runner.run(entry, mode, epsilon, seed) for entry, mode, epsilon in ours]
    return theirs, mine
