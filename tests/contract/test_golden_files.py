"""Contracts match their golden files, and the templates that `make up` serves their sources."""

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from stackroom_local import project_files, synthesis
from tests.golden.promised import FILES

ROOT = Path(__file__).parents[2]
ABSENT = "(nothing)"


def first_difference(kept: Any, now: Any, where: str = "") -> str | None:
    """Return where the two differ first and what each has there, or None."""
    if type(kept) is type(now) and isinstance(kept, dict | list):
        for place, (old, new) in _beside(kept, now):
            if (found := first_difference(old, new, f"{where}/{place}")) is not None:
                return found
        return None
    return None if kept == now else f"at {where or '/'}: {kept!r:.100} is now {now!r:.100}"


def _beside(kept: Any, now: Any) -> list[tuple[object, tuple[Any, Any]]]:
    if isinstance(kept, list):
        return list(enumerate(zip_longest(kept, now, fillvalue=ABSENT)))
    return [(name, (kept.get(name, ABSENT), now.get(name, ABSENT))) for name in {**kept, **now}]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_matches_its_golden_file(path: Path) -> None:
    kept, now = path.read_text("utf-8") if path.exists() else "null", FILES[path]()

    difference = first_difference(json.loads(kept), json.loads(now))

    assert difference is None, (
        f"{path.relative_to(ROOT)}, {difference}. Programs outside of this repository count on it: "
        "change it only where a contract names the change, then write it anew with `make golden`"
    )
    assert kept == now, f"{path.relative_to(ROOT)} is laid out otherwise: run `make golden`"


def test_there_is_no_other_golden_file() -> None:
    folders = {path.parent for path in FILES}

    assert {path for each in folders for path in each.glob("*.json")} == set(FILES)


def test_templates_of_this_checkout_are_current() -> None:
    kept = project_files.ROOT / synthesis.TEMPLATES / "default" / "fingerprint"

    assert kept.read_text() == synthesis.fingerprint({}), "run: make templates"
