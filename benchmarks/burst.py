"""
The pipeline under load, in simulated time, beside other designs.

    make bench-burst                    small sizes, within two minutes
    make bench-burst ARGS=--full        the sizes of docs/scaling.md, within half an hour
    make bench-burst ARGS="--full --only shapes --markdown"

The product's own use cases, adapters of Bedrock and state machine run over the simulator's rules,
while time jumps from one event to the next. No document is parsed or embedded: each takes a time
drawn by its size. docs/scaling.md says what else is assumed, and derives the bound. Two scenarios
are run at a time, each in a process of its own.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.serving import measure, print_machine
from benchmarks.shows import FULL, SCENARIOS, Bench, Sizes

_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parsed(arguments)
    print_machine()
    print(__doc__.partition("\n\n")[2].partition("\n\n")[2].strip())
    with ProcessPoolExecutor(_PROCESSES) as processes:
        bench = Bench(
            sizes=FULL if asked.full else Sizes(),
            seed=asked.seed,
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
    return parser.parse_args(arguments)


if __name__ == "__main__":
    measure(main)
