"""Fuzzing for as long as one likes: `make fuzz MINUTES=10`, or `python -m tests.fuzz --minutes 10`.

Every target gets its share of the time. What fails is shrunk by hypothesis and kept in tests/fuzz/corpus,
where the tests feed it to its target from then on.
"""

import argparse
import hashlib
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.kernel import build
from tests.fuzz.mutated import mutated
from tests.fuzz.over_http import OverHttp
from tests.fuzz.targets import targets
from tests.service.conftest import serving, small_bundle

CORPUS = Path(__file__).with_name("corpus")
EXAMPLES = 500  # between two looks at the clock
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)


def feed(target, examples, number):
    """Feed a target with so many inputs; the last one is the shortest that fails, where one does."""
    fed = []

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(target.seeds))
    def run(raw):
        fed.append(raw)
        target.check(raw)

    try:
        run()
    except Exception:
        return len(fed), fed[-1], traceback.format_exc(limit=-4)
    return len(fed), None, ""


def fuzz(name, target, seconds, chance):
    """Feed one target for so long; whether it held."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        examples = EXAMPLES if count > 50 else 50
        fed, failing, why = feed(target, examples, chance.getrandbits(32))
        count += fed
        if failing is not None:
            path = CORPUS / name / hashlib.sha256(failing).hexdigest()[:16]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(failing)
            print(f"{name}: FAILED after {count:,} inputs; kept as {path}\n{why}", flush=True)
            return False
    print(f"{name}: {count:,} inputs held", flush=True)
    return True


def fuzz_kernel(seconds, number):
    """The native kernel under the address and undefined-behaviour sanitizers."""
    program = build()
    if program is None:
        print("kernel: no compiler with sanitizers; left out", flush=True)
        return True
    done = subprocess.run([program, str(number), str(int(seconds))], check=False)
    return done.returncode == 0


def main():
    """Fuzz every target, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("targets", metavar="TARGET", nargs="*", help="all if none is named")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    chance = random.Random(args.seed)
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="wavetell-fuzz-") as folder:
        model = Path(folder) / "small.safetensors"
        small_bundle().save(model)
        with serving(Path(folder) / "data", model, "--max-rate", "1000000") as service:
            every = targets() | OverHttp(service).targets()
            names = args.targets or [*every, "kernel"]
            share = 60 * args.minutes / len(names)
            held = [fuzz(name, every[name], share, chance) for name in names if name != "kernel"]
            held.append("Traceback" not in (Path(folder) / "data.log").read_text())
        if "kernel" in names:
            held.append(fuzz_kernel(share, args.seed))
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
