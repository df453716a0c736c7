"""One optimizer step with DeepSpeed's CPUAdam and the separate passes around it, and torch's FP32 norm.

usage: step_deepspeed.py '{"elements": [16777216], "repeats": [1], "threads": 2, "warmUps": 10, "timed": 20, ...}'
The task also holds the settings of AdamW and the clip coefficient, so that both sides do the same arithmetic.
"""
import contextlib
import sys

import peer

try:
    # It writes to standard output while it is imported and built.
    with contextlib.redirect_stdout(sys.stderr):
        import torch
        import deepspeed
        from deepspeed.ops.adam import DeepSpeedCPUAdam
except ImportError as error:
    peer.answer({"missing": str(error)})
    raise SystemExit


def norm(task, elements, repeats):
    gradient = peer.repeated(torch, peer.eighths(1), elements, torch.float32)
    samples = peer.time_calls(task, lambda: torch.linalg.vector_norm(gradient), repeats=repeats)
    expected = torch.linalg.vector_norm(gradient.double()).reshape(1)
    # Wide: summed in FP32, it is 0.4 % off at 2^24 elements.
    peer.require_close("torch's norm", torch.linalg.vector_norm(gradient).reshape(1), expected, 2e-2)
    return {"operation": "torch-fp32-norm", "elements": elements, "samplesMs": samples}


def step(task, elements, repeats):
    adamw = task["adamw"]
    coefficient = task["coefficient"]
    master = torch.nn.Parameter(peer.repeated(torch, peer.eighths(0), elements, torch.float32))
    gradients = peer.repeated(torch, peer.eighths(1), elements, torch.float32)
    weights = torch.empty(elements, dtype=torch.bfloat16)
    master.grad = gradients.clone()
    optimizer = DeepSpeedCPUAdam(
        [master],
        lr=adamw["lr"],
        betas=tuple(adamw["betas"]),
        eps=adamw["eps"],
        weight_decay=adamw["weightDecay"],
        adamw_mode=True,
    )

    def call():
        master.grad.mul_(coefficient)
        optimizer.step()
        weights.copy_(master.data)
        master.grad.zero_()

    call()
    clipped = gradients.double() * coefficient
    start = peer.repeated(torch, peer.eighths(0), elements, torch.float64)
    decayed = start * (1 - adamw["lr"] * adamw["weightDecay"])
    expected = decayed - adamw["lr"] * clipped / (clipped.abs() + adamw["eps"])
    peer.require_close("DeepSpeed's master", master.data, expected, 1e-5)
    peer.require_close("DeepSpeed's weight", weights, master.data.to(torch.bfloat16), 0)

    samples = peer.time_calls(task, call, lambda: master.grad.copy_(gradients), repeats)
    return {"operation": "deepspeed-adamw", "elements": elements, "samplesMs": samples}


def main():
    task = peer.task_from_arguments()
    torch.set_num_threads(task["threads"])
    with contextlib.redirect_stdout(sys.stderr):
        sizes = list(zip(task["elements"], task["repeats"]))
        rows = [measure(task, *size) for size in sizes for measure in (norm, step)]
    peer.answer({"version": f"{deepspeed.__version__} on torch {torch.__version__}", "rows": rows})


if __name__ == "__main__":
    main()
