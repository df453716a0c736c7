"""What the peers have in common: a task as JSON in, one JSON object out, samples taken as foldstep takes them."""
import json
import sys
import time

PERIOD = 61


def eighths(seed):
    """One period of the data that every benchmark uses, as in lib/bench/pattern.ts."""
    return [(((k * 7 + seed * 3) % 31) - 15) / 8 for k in range(PERIOD)]


def repeated(torch, period, elements, dtype):
    copies = -(-elements // PERIOD)
    return torch.tensor(period, dtype=dtype).repeat(copies)[:elements].clone()


def require_close(what, actual, expected, tolerance):
    """Ends the process unless every element is right, so that no time is reported for a wrong result."""
    wrong = (actual.double() - expected.double()).abs() > tolerance * expected.double().abs()
    if wrong.any():
        at = int(wrong.nonzero()[0])
        sys.exit(f"{what}: element {at} is {float(actual[at])} and must be {float(expected[at])}")


def time_calls(task, call, before=lambda: None):
    """Milliseconds of each timed call."""
    samples = []
    for i in range(task["warmUps"] + task["timed"]):
        before()
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        if i >= task["warmUps"]:
            samples.append((end - start) * 1e3)
    return samples


def answer(content):
    print(json.dumps(content), flush=True)


def task_from_arguments():
    return json.loads(sys.argv[1])
