"""The boundary in torch with gloo: BF16 gradient, corrected over the lanes, added to an FP32 accumulator.

usage: boundary_torch.py '{"elements": [1048576], "ranks": 2, "mirror": false, "warmUps": 10, "timed": 20}'
"""
import os
import tempfile

import peer

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
except ImportError as error:
    peer.answer({"missing": str(error)})
    raise SystemExit


def bf16_round_trip(gradient, accumulator, lanes, mirror):
    """DeepSpeed's historical way: reduced in FP32, rounded to BF16 over the gradient, widened, added."""
    staged = gradient.float()
    dist.all_reduce(staged)
    staged.div_(lanes)
    gradient.copy_(staged.to(gradient.dtype))
    accumulator.add_(gradient.to(torch.float32))


def fp32_staging(gradient, accumulator, lanes, mirror):
    """Staged and reduced in FP32, added as it is."""
    staged = gradient.float()
    dist.all_reduce(staged)
    staged.div_(lanes)
    accumulator.add_(staged)
    if mirror:
        gradient.copy_(staged)


WAYS = {
    "torch-gloo-bf16-round-trip": (bf16_round_trip, 2**-8),
    "torch-gloo-fp32-staging": (fp32_staging, 2**-22),
}


def gradient_of(rank):
    period = peer.eighths(rank)
    period[0] = 1 if rank % 2 == 0 else 1.0078125
    return period


def average_of(ranks):
    return [sum(values) / ranks for values in zip(*(gradient_of(rank) for rank in range(ranks)))]


def slowest(samples):
    times = torch.tensor(samples, dtype=torch.float64)
    dist.all_reduce(times, dist.ReduceOp.MAX)
    return times.tolist()


def measure(task, rank, elements, path):
    way, tolerance = WAYS[path]
    lanes = task["ranks"]
    pristine = peer.repeated(torch, gradient_of(rank), elements, torch.bfloat16)
    gradient = pristine.clone()
    accumulator = torch.zeros(elements)

    def before():
        gradient.copy_(pristine)
        dist.barrier()

    def call():
        way(gradient, accumulator, lanes, task["mirror"])

    samples = slowest(peer.time_calls(task, call, before))
    accumulator.zero_()
    before()
    call()
    expected = peer.repeated(torch, average_of(lanes), elements, torch.float64)
    peer.require_close(f"the accumulator of {path}", accumulator, expected, tolerance)
    return {
        "path": path,
        "elements": elements,
        "samplesMs": samples,
        "temporaryPeakBytes": None,
        "value": accumulator[0].item(),
    }


def run_rank(rank, task, meeting, results):
    peer.die_with_parent()
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=task["ranks"])
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // task["ranks"]))
    rows = [measure(task, rank, elements, path) for elements in task["elements"] for path in WAYS]
    if rank == 0:
        results.put(rows)
    dist.barrier()
    dist.destroy_process_group()


def main():
    task = peer.task_from_arguments()
    with tempfile.TemporaryDirectory() as folder:
        results = mp.get_context("spawn").SimpleQueue()
        ranks = mp.spawn(
            run_rank, (task, os.path.join(folder, "meeting"), results), nprocs=task["ranks"], join=False
        )
        while not ranks.join():
            pass
        peer.answer({"version": torch.__version__, "rows": results.get()})


if __name__ == "__main__":
    main()
