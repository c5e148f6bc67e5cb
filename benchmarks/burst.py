"""
The pipeline under load, in simulated time, beside other designs.

    make bench-burst                    small sizes, within five minutes
    make bench-burst ARGS=--full        the sizes of docs/scaling.md, within an hour
    make bench-burst ARGS="--full --only shapes --markdown --shape '500 into 50' --seeds 1"

Each shape is run in the seven worlds of benchmarks/worlds.py, with each kind of data source. The
product's own use cases, adapters of Bedrock and state machine run over the simulator's rules, while
time jumps from one event to the next. No document is parsed or embedded: each takes a time drawn by
its size. docs/scaling.md says what else is assumed, and derives the bound. Two scenarios are run at
a time, each in a process of its own.
"""

import argparse
import gc
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.serving import measure, print_machine
from benchmarks.shapes import NAMES
from benchmarks.shows import FULL, SCENARIOS, Bench, Sizes

_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parsed(arguments)
    print_machine()
    print(__doc__.partition("\n\n")[2].partition("\n\n")[2].strip())
    # What is imported is there to stay: no collection need look at it.
    with ProcessPoolExecutor(_PROCESSES, initializer=gc.freeze) as processes:
        bench = Bench(
            sizes=FULL if asked.full else Sizes(),
            seed=asked.seed,
            seeds=asked.seeds,
            shape=asked.shape,
            designs=asked.designs,
            as_markdown=asked.markdown,
            processes=processes,
        )
        begun = {name: begin(bench) for name, begin in SCENARIOS.items() if name in asked.only}
        for name, show in begun.items():
            print(f"\n== {name}", flush=True)
            show()


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-burst", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes of docs/scaling.md")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(SCENARIOS), help="scenarios"
    )
    parser.add_argument("--markdown", action="store_true", help="the tables as Markdown")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5, help="of the shapes, from --seed on")
    parser.add_argument("--shape", default="", help="those whose name has it in it, '500 into 50'")
    parser.add_argument(
        "--designs", type=lambda text: text.split(","), default=NAMES, help=",".join(NAMES)
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    measure(main)
