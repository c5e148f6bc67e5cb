"""
Users at random and kills in turn, in a real local mode; at the end everything must agree.

    python -m tests.campaigns.soak --minutes 10 --seed 0

Prints the counts, and what disagreed: what was expected, and what was seen. Ends with 1 then, and
keeps the state directory, the journal of all that was done, and the logs of every start.
"""

import argparse
import logging
import shutil
import tempfile
import time
from pathlib import Path

from stackroom_local.processes import free_ports
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.soak import Soak


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--speed", type=float, default=40, help="of the local mode")
    parser.add_argument("--port", type=int, default=None, help="first of three; default: free ones")
    parser.add_argument("--patience", type=float, default=300, help="seconds to come to rest")
    parser.add_argument("--folder", type=Path, default=None, help="for state and logs; kept")
    options = parser.parse_args()
    logging.getLogger("botocore").setLevel(logging.ERROR)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="stackroom-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}, {options.minutes:g} minutes, in {folder}", flush=True)
    started = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    soak = Soak(
        mode=Mode(folder, options.port or free_ports(4), options.speed, options.seed),
        seed=options.seed,
        minutes=options.minutes,
        patience=options.patience,
        tell=tell,
    )
    tally = soak.run()
    print(*tally.disagreements, sep="\n")
    print(f"seed {options.seed}, {options.minutes:g} minutes", tally.told(), sep="\n")
    if tally.disagreements:
        print(f"kept for reading: {folder}")
        return 1
    if options.folder is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
