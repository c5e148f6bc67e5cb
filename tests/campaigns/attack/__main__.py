"""
Every attempt, against a local mode of their own.

    python -m tests.campaigns.attack --seed 0

Prints the seed, attempts by kind, what leaked and what was refused without a word to act on. Then
every attempt on the knowledge bases that an agent was given, which have a simulator of their own.
Ends with 1 on any of these.
"""

import argparse
import logging
import tempfile
import time
from pathlib import Path

from stackroom_local.state import Instance, StateDirectory
from tests.campaigns.attack import linked, linked_stage
from tests.campaigns.attack.campaign import attempts, run
from tests.campaigns.attack.stage import Stage, staged
from tests.local.running import local_mode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--share", type=int, default=1, help="take one attempt of so many")
    parser.add_argument("--only", default="", help="attempts with this in their line")
    parser.add_argument("--via", choices=["s3vectors", "bedrock"], default="s3vectors")
    parser.add_argument("--omit-source-uri", action="store_true", help="as `stackroom up` has it")
    parser.add_argument("--state-dir", type=Path, help="of a local mode that is up already")
    options = parser.parse_args()
    logging.getLogger("botocore").setLevel(logging.ERROR)
    print(f"seed {options.seed}", flush=True)
    if options.state_dir:
        return attack(StateDirectory(options.state_dir).instance(), options)
    chosen = ["--sharing", "--retrieve-via", options.via]
    chosen += ["--omit-source-uri"] * options.omit_source_uri
    with (
        tempfile.TemporaryDirectory(prefix="stackroom-attack-") as folder,
        local_mode(Path(folder) / "state", *chosen) as instance,
    ):
        found = attack(instance, options)
    with tempfile.TemporaryDirectory(prefix="stackroom-attack-") as folder:
        return found | attack_linked(Path(folder), options)


def attack(instance: Instance, options: argparse.Namespace) -> int:
    word = f"{options.seed:x}"
    cast = {"victim": (f"prey-{word}", "Larder"), "attacker": (f"hunter-{word}", "Den")}
    with staged(instance, options.seed, **cast) as stage:
        return tell(stage, options)


def attack_linked(folder: Path, options: argparse.Namespace) -> int:
    """No line of the agent's log is shown, as each attempt has several."""
    logging.disable(logging.CRITICAL)
    with linked_stage.staged(folder, options.seed) as stage:
        every = linked.attempts(stage, options.seed)
        found = linked.judge(
            stage, (each for each in every if options.only in f"{each.kind} · {each.name}")
        )
    print(f"\nlinked knowledge bases\n{found.summary()}")
    return 0 if found.is_clean else 1


def tell(stage: Stage, options: argparse.Namespace) -> int:
    began = time.monotonic()
    found = attempts(stage, options.seed, share=options.share)
    tally = run(
        stage,
        (each for each in found if options.only in f"{each.kind} · {each.tool} · {each.name}"),
    )
    print(f"{time.monotonic() - began:.0f} s\n{tally.summary()}")
    return 0 if tally.is_clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
