#!/usr/bin/env python3
"""Data-parallel training on machines of unequal speed, for `hemingway tune`.

    echo '{"machines": {"a": {"worker": true, "ps": true, "loads": {"cpu": 512}}}}' | python train.py

Reads a configuration on standard input, trains for 20 iterations with it, and prints one answer (JSON) on standard output.
Each worker machine is a process of this host, slowed down to the pace of the machine that it stands for.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import nn

import hemingway_report

ITERATIONS = 20
FEATURES, HIDDEN, CLASSES = 256, 880, 10  # about a million parameters: 4 MB
SECONDS_PER_INPUT = {"a": 0.0005, "b": 0.0005, "c": 0.002, "d": 0.002}  # the pace of each machine


def main():
    try:
        print(json.dumps(run(read(json.load(sys.stdin)))))
    except Exception as problem:
        print(json.dumps({"status": "failed", "reason": str(problem).strip() or repr(problem)}))


def read(configuration):
    """The workers, as (machine, inputs per iteration). Gradients are all-reduced, so it does not matter who is a `ps`."""
    workers = [(name, machine["loads"].get("cpu", 0))
               for name, machine in configuration["machines"].items() if machine["worker"]]
    unknown = [name for name, _ in workers if name not in SECONDS_PER_INPUT]
    if unknown:
        raise ValueError(f"there is no machine {unknown[0]}; there are {', '.join(SECONDS_PER_INPUT)}")
    workers = [(name, load) for name, load in workers if load > 0]
    if not workers:
        raise ValueError("no machine has a load")
    return workers


def run(workers):
    """One process for each worker; the answer of rank 0. Forked, as importing torch four times takes longer than training."""
    results = processes.get_context("fork").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        meeting_point = (Path(folder) / "rendezvous").as_uri()
        processes.start_processes(train, (workers, meeting_point, results), len(workers), start_method="fork")
    return results.get()


def train(rank, workers, meeting_point, results):
    machine, load = workers[rank]
    batch, before = sum(load for _, load in workers), sum(load for _, load in workers[:rank])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting_point, rank=rank, world_size=len(workers))
    torch.manual_seed(0)  # the same network everywhere
    network = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                            nn.Linear(HIDDEN, CLASSES))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    stopwatch = hemingway_report.Stopwatch()
    for iteration in range(ITERATIONS):
        inputs, labels = (part[before:before + load] for part in synthetic(batch, iteration))
        with stopwatch.iteration():
            with stopwatch.device("cpu"), pace(load * SECONDS_PER_INPUT[machine]):
                optimizer.zero_grad()
                # Weighted by its share of the batch, so that the sum over machines is the mean over all inputs.
                loss = nn.functional.cross_entropy(network(inputs), labels) * load / batch
                loss.backward()
            stopwatch.gradient_ready()
            sum_gradients(network)
            optimizer.step()
    dist.all_reduce(loss.detach())
    found = hemingway_report.answer(stopwatch, machine, {"cpu": load})
    if rank == 0:
        print(f"loss {loss.item():.4f} after {ITERATIONS} iterations", file=sys.stderr)
        results.put(found)
    dist.destroy_process_group()


def synthetic(batch, iteration):
    """A batch that depends on the iteration alone, however it is divided."""
    random = torch.Generator().manual_seed(iteration)
    inputs = torch.randn(batch, FEATURES, generator=random)
    return inputs, inputs[:, :CLASSES].argmax(dim=1)


def sum_gradients(network):
    """One all-reduce over all gradients."""
    gradients = [parameter.grad for parameter in network.parameters()]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
        gradient.copy_(part.view_as(gradient))


class pace:
    """Takes at least so many seconds: a slow machine."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, *_):
        time.sleep(max(0.0, self.began + self.seconds - time.perf_counter()))


if __name__ == "__main__":
    main()
