#!/usr/bin/env python3
"""A stand-in for `hemingway tune --simulate`, to test the driver without a build: a toy cluster, not the real simulator.

Seconds = the slowest machine (loads / speeds) + communication (the slowest transfer). Its optimum is only a lower bound.
"""

import json
import random
import sys

SPEED = {"g": {"cpu": 100.0, "gpu": 1000.0}, "m": {"cpu": 200.0}}  # inputs per second
NETWORK = {"g": 1.0, "m": 2.0}  # parameters per second
MACHINES = {"g-1": "g", "g-2": "g", "m-1": "m", "m-2": "m", "m-3": "m"}
BATCH = 1024
OPTIMUM = BATCH / sum(speed for kind in MACHINES.values() for speed in SPEED[kind].values())


def seconds(configuration):
    machines = configuration["machines"]
    loads = {name: machine["loads"] if machine["worker"] else {} for name, machine in machines.items()}
    servers = sum(machine["ps"] for machine in machines.values())
    workers = sum(any(load.values()) for load in loads.values())
    if sum(sum(load.values()) for load in loads.values()) != BATCH or not servers:
        return None
    computing = max(load / SPEED[MACHINES[name]][device] for name, each in loads.items() for device, load in each.items())
    transfers = [(any(loads[name].values()) + workers * machine["ps"] / servers) / NETWORK[MACHINES[name]]
                 for name, machine in machines.items()]
    return computing + max(transfers)


def answer(configuration, noise):
    exact = seconds(configuration)
    if exact is None:
        return {"status": "failed", "reason": "infeasible"}
    return {"status": "ok", "time": exact * noise.lognormvariate(0, 0.02), "exact": exact}


def uniform():
    devices = [(name, device) for name, kind in MACHINES.items() for device in SPEED[kind]]
    share, rest = divmod(BATCH, len(devices))
    loads = {name: {} for name in MACHINES}
    for at, (name, device) in enumerate(devices):
        loads[name][device] = share + (at < rest)
    return {"machines": {name: {"worker": True, "ps": True, "loads": loads[name]} for name in MACHINES}}


def main():
    _, _, name, *words = sys.argv[1:]
    noise = random.Random(int(words[words.index("--seed") + 1]) if "--seed" in words else 0)
    if name == "list":
        print("a-toy-1024", "b-toy-1024", sep="\n")
    elif "--describe" in words:
        machines = [{"name": name, "type": kind, "devices": list(SPEED[kind])} for name, kind in MACHINES.items()]
        print(json.dumps({"name": name, "batch": BATCH, "machines": machines, "optimum": OPTIMUM,
                          "uniform": seconds(uniform())}))
    elif "--serve" in words:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), noise)), flush=True)
    else:
        evaluations = int(words[words.index("--evaluations") + 1])
        exact = seconds(uniform())
        print(json.dumps({"optimum": OPTIMUM, "evaluations": [
            {"number": number, "time": exact, "exact": exact, "best_exact": exact} for number in range(1, evaluations + 1)]}))


main()
