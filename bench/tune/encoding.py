"""A schedule as the flat list of parameters that a generic tuner wants, and back.

Two encodings. `PerMachine` is the direct one: two booleans for each machine and a weight for each device. `PerType` is what an
experienced user writes, who knows that machines of a type are alike: how many of each type work, how many serve, and one weight
for each device of a type. Of a type, the first machines work and the last ones serve, so that idle machines serve first.

Every proposal is made feasible, so that no evaluation is wasted:
- Weights become loads by normalising over the workers' devices and rounding to whole numbers (largest remainder).
- Without any worker, all machines work. With weights that are all zero, devices share evenly.
- Without any server, all workers serve too, as in the uniform schedule.
- A worker that is left without a load is none.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Boolean:
    name: str


@dataclass(frozen=True)
class Count:
    """A whole number from 0 to most."""

    name: str
    most: int


@dataclass(frozen=True)
class Weight:
    """A number from 0 to 1."""

    name: str


class PerMachine:
    def __init__(self, description):
        self.batch, self.machines = description["batch"], description["machines"]

    def parameters(self):
        for machine in self.machines:
            name = machine["name"]
            yield Boolean(f"{name} works")
            yield Boolean(f"{name} serves")
            yield from (Weight(f"{name} {device}") for device in machine["devices"])

    def guesses(self):
        return {f"{machine['name']} {device}": guess(machine, device) for machine in self.machines for device in machine["devices"]}

    def configuration(self, values):
        names = [machine["name"] for machine in self.machines]
        workers = {name for name in names if values[f"{name} works"]}
        servers = {name for name in names if values[f"{name} serves"]}
        weights = {(machine["name"], device): values[f"{machine['name']} {device}"]
                   for machine in self.machines for device in machine["devices"]}
        return schedule(weights, workers, servers, self.batch)


class PerType:
    def __init__(self, description):
        self.batch, self.types = description["batch"], {}
        for machine in description["machines"]:
            self.types.setdefault(machine["type"], []).append(machine)

    def parameters(self):
        for kind, machines in self.types.items():
            yield Count(f"{kind} workers", len(machines))
            yield Count(f"{kind} servers", len(machines))
            yield from (Weight(f"{kind} {device}") for device in machines[0]["devices"])

    def guesses(self):
        return {f"{kind} {device}": guess(machines[0], device)
                for kind, machines in self.types.items() for device in machines[0]["devices"]}

    def configuration(self, values):
        workers, servers, weights = set(), set(), {}
        for kind, machines in self.types.items():
            names = [machine["name"] for machine in machines]
            workers.update(names[:values[f"{kind} workers"]])
            servers.update(names[len(names) - values[f"{kind} servers"]:])
            weights |= {(name, device): values[f"{kind} {device}"] for name in names for device in machines[0]["devices"]}
        return schedule(weights, workers, servers, self.batch)


def start(encoding):
    """Where every rival begins: all machines work and serve, loads go by the guesses of speed, or are equal if there are none.

    Guesses are scaled to half the range of weights, so that the fastest device can still get more.
    """
    fastest = max(encoding.guesses().values())
    value = {Boolean: lambda _: True, Count: lambda parameter: parameter.most,
             Weight: lambda parameter: 0.5 * encoding.guesses()[parameter.name] / fastest}
    return {parameter.name: value[type(parameter)](parameter) for parameter in encoding.parameters()}


def guess(machine, device):
    """How fast a device is thought to be, relative to the others."""
    return machine.get("speeds", {}).get(device, 1.0)


def schedule(weights, workers, servers, batch):
    """A feasible configuration, repaired as told above. `weights` has all devices, by (machine, device)."""
    workers = workers or {machine for machine, _ in weights}
    working = {device: weight for device, weight in weights.items() if device[0] in workers}
    if not any(working.values()):
        working = dict.fromkeys(working, 1.0)
    loads = dict.fromkeys(weights, 0) | dict(zip(working, shares(batch, list(working.values()))))
    workers = {machine for (machine, _), load in loads.items() if load > 0}
    servers = servers or workers
    machines = {}
    for (machine, device), load in loads.items():
        role = {"worker": machine in workers, "ps": machine in servers, "loads": {}}
        machines.setdefault(machine, role)["loads"][device] = load
    return {"machines": machines}


def shares(total, weights):
    """Whole numbers in proportion to the weights that sum to the total (largest remainder)."""
    exact = [total * (weight / sum(weights)) for weight in weights]
    whole = [int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda at: whole[at] - exact[at])
    for at in by_remainder[:total - sum(whole)]:
        whole[at] += 1
    return whole
