"""Files whose text tends to get lost: what their passages must have, and must not."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bedrock_kb_simulator.chunk_strategies import Chunking
from benchmarks.readers.folders import Reading
from stackroom.text.document_text import without_context

_LAST = 11  # the last case about text; later ones are about names, folders and filters


class Verdict(StrEnum):
    FOUND = "FOUND"
    TOLD = "TOLD"  # it is missing, and a gap or the reason of the refusal says so
    WRONG = "WRONG"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case: one passage must match all of `must_find`, none may match any of `must_not_find`."""

    file: Path
    must_find: Sequence[str]
    must_not_find: Sequence[str]
    is_control: bool


def cases_in(folder: Path) -> Iterator[Case]:
    """Yield those of the folder's cases.json that are about the text of one file."""
    for each in json.loads((folder / "cases.json").read_text("utf-8")):
        if each["case"] <= _LAST and (folder / each["file"]).is_file():
            yield Case(
                file=folder / each["file"],
                must_find=each["must_find"],
                must_not_find=each["must_not_find"],
                is_control=each["control"],
            )


def judged(case: Case, reading: Reading) -> tuple[Verdict, str]:
    """Return the verdict and why; a control is right if its text is found and it has no gap."""
    passages = [without_context(each) for each in Chunking().split(reading.markdown)]
    gaps = [each for each in (*reading.gaps, reading.refused, reading.crash) if each]
    is_found = any(all(re.search(each, text) for each in case.must_find) for text in passages)
    faults = [
        f"has {each!r}" for each in case.must_not_find if any(re.search(each, t) for t in passages)
    ]
    if not is_found and (case.is_control or not gaps or reading.crash):
        faults.append(f"no passage has {' and '.join(map(repr, case.must_find)) or 'any text'}")
    if case.is_control and gaps:
        faults.append("a control has a gap")
    right = Verdict.FOUND if is_found else Verdict.TOLD
    reasons = "; ".join([*faults, *(f"gap: {each}" for each in gaps)])
    return Verdict.WRONG if faults else right, reasons
