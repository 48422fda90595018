"""What `hemingway tune` needs from a PyTorch training script: a stopwatch in the loop, and an answer at its end.

Copy this file beside your script. Everything it sends goes through the process group that training uses already.
"""

from contextlib import contextmanager
from statistics import fmean
from time import perf_counter

import torch
import torch.distributed as dist


class Stopwatch:
    """Seconds of this machine in each iteration: of every device, until its gradient was ready, and in all."""

    def __init__(self):
        self.laps = []

    @contextmanager
    def iteration(self):
        self.began, self.devices = perf_counter(), {}
        yield
        self.laps.append({"time": perf_counter() - self.began, "ready": self.ready, "devices": self.devices})

    @contextmanager
    def device(self, name):
        began = perf_counter()
        yield
        if torch.cuda.is_initialized():  # kernels run on after the call returns
            torch.cuda.synchronize()
        self.devices[name] = perf_counter() - began

    def gradient_ready(self):
        self.ready = perf_counter() - self.began


def answer(stopwatch, machine, loads, last=10):
    """The answer on rank 0, None elsewhere; averages over the last iterations, as the first ones warm up."""
    gathered = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
    dist.gather_object((machine, loads, stopwatch.laps[-last:]), gathered)
    if gathered is None:
        return None
    time = fmean(lap["time"] for lap in stopwatch.laps[-last:])
    # All-reduce ends when the slowest machine has joined: what an iteration takes beyond that is communication.
    slowest = fmean(max(lap["ready"] for lap in laps) for laps in zip(*(laps for _, _, laps in gathered)))
    machines = {name: measured(loads, laps) for name, loads, laps in gathered}
    return {"status": "ok", "time": time, "communication_time": max(time - slowest, 0.0), "machines": machines}


def measured(loads, laps):
    devices = {name: {"load": loads[name], "time": fmean(lap["devices"][name] for lap in laps)}
               for name in laps[0]["devices"]}
    return {"time": fmean(lap["ready"] for lap in laps), "devices": devices}
