"""What the peers have in common: a task as JSON in, one JSON object out, samples taken as foldstep takes them."""
import ctypes
import json
import signal
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
    # NaN is not within anything.
    wrong = ~((actual.double() - expected.double()).abs() <= tolerance * expected.double().abs())
    if wrong.any():
        at = int(wrong.nonzero()[0])
        sys.exit(f"{what}: element {at} is {float(actual[at])} and must be {float(expected[at])}")


def time_calls(task, call, before=lambda: None, repeats=1):
    """Milliseconds of each timed call; of `repeats` calls after one `before`, their mean."""
    samples = []
    for i in range(task["warmUps"] + task["timed"]):
        before()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        end = time.perf_counter()
        if i >= task["warmUps"]:
            samples.append((end - start) * 1e3 / repeats)
    return samples


def die_with_parent():
    """A process that multiprocessing starts outlives one that is killed, unless the kernel is asked (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def answer(content):
    print(json.dumps(content), flush=True)


def task_from_arguments():
    return json.loads(sys.argv[1])
