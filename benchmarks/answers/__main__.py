"""`make bench-answers DATA=FOLDER`: how much of the answers plain Retrieve and Stackroom find."""

import argparse
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from benchmarks.answers.corpus import CACHE
from benchmarks.answers.local import ingested, local_mode
from benchmarks.answers.measuring import Outcome, outcomes
from benchmarks.answers.sets import PUBLISHED, MeasuredSet, sets_of
from benchmarks.answers.tables import differences, figures, losses
from benchmarks.answers.ways import as_function, plain_of, retrieval_of, tool_of, without
from benchmarks.layout import aligned, markdown
from benchmarks.serving import NotMeasured, measure, print_machine

KEPT = CACHE / "outcomes.jsonl"
_PATIENCE = 120.0  # seconds until text search, which is added at the start, is active


def main() -> None:
    options = _options()
    chosen = _chosen(options)
    print_machine()
    found: dict[str, list[Outcome]] = {}
    with local_mode(options.model) as instance:
        catalogs = {each.catalog: each.files for each in chosen}
        ids = {name: ingested(instance, name, files) for name, files in catalogs.items()}
        with as_function(instance):
            logging.disable(logging.WARNING)  # the functions' log lines don't belong to the report
            for each in chosen:
                began = time.monotonic()
                found[each.name] = _asked(each, ids[each.catalog])
                took = time.monotonic() - began
                print(f"asked {each.name}: {len(each.asked)} questions, {took:.0f} s", flush=True)
    _keep(found)
    table = markdown if options.markdown else aligned
    print(f"\n{table(figures(found, {each.name: each.group for each in chosen}))}\n")
    print(f"What Stackroom finds more, in questions:\n\n{table(differences(found))}\n")
    lost = losses(found)
    print("Plain Retrieve finds more in", *(lost or ["no set"]), sep="\n  ")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench-answers",
        description=__doc__,
        epilog=PUBLISHED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", nargs="?", type=Path, help="a folder of published sets")
    parser.add_argument("--sets", help="some alone, by how they begin: chunks,languages,own-tune")
    parser.add_argument("--sample", type=int, default=1, help="every Nth question alone")
    parser.add_argument("--markdown", action="store_true", help="the tables as Markdown")
    parser.add_argument("--model", choices=get_args(ModelName), default=DEFAULT_MODEL)
    options = parser.parse_args()
    if options.sample < 1:
        parser.error(f"--sample {options.sample}: allowed: 1, and more")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"there is no folder {options.data}")
    return options


def _chosen(options: argparse.Namespace) -> Sequence[MeasuredSet]:
    names = tuple(options.sets.split(",")) if options.sets else ("",)
    chosen = [
        replace(each, asked=each.asked[:: options.sample])
        for each in sets_of(options.data)
        if each.name.startswith(names)
    ]
    if not chosen:
        raise NotMeasured(f"there is no set {options.sets!r}")
    return chosen


def _asked(measured: MeasuredSet, catalog_id: str) -> list[Outcome]:
    retrieval = retrieval_of()
    tool = tool_of(retrieval, catalog_id)
    _wait_for(lambda: tool(measured.asked[0].question))
    catalog = retrieval.catalogs.get(catalog_id)
    assert catalog is not None, "it was ingested"
    assert catalog.knowledge_base_id is not None, "it was ingested"
    return list(
        outcomes(
            measured,
            plain=plain_of(catalog_id, catalog.knowledge_base_id),
            tool=tool,
            tool_without=lambda files: tool_of(without(retrieval, files), catalog_id),
        )
    )


def _wait_for(is_ready: Callable[[], object]) -> None:
    """Wait until the index can be searched by words; before, another way is used."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            is_ready()
        except NotMeasured:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
        else:
            return


def _keep(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Write the outcome of each question to a file."""
    lines = (
        json.dumps({"set": name, **asdict(each)}) for name, those in found.items() for each in those
    )
    KEPT.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    measure(main)
