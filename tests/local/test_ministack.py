"""What we mend in ministack; a new version of it may need it no more."""

import pytest
from ministack.core import iam_evaluator

from stackroom_local.ministack import mend

BUCKET = "arn:aws:s3:::docs"


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iam_evaluator, "_fnmatch_compile", iam_evaluator._fnmatch_compile)
    mend()


def test_ministack_itself_still_takes_a_line_break_for_the_end() -> None:
    assert not iam_evaluator.fnmatch_iam_cs(f"{BUCKET}/a\nb.txt", f"{BUCKET}/*")


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize(
    ("key", "pattern", "matches"),
    [
        ("alice/a\nb.txt", "alice/*", True),
        ("alice/a\n", "alice/*", True),
        ("alice/a\nb", "alice/a?b", True),
        ("alice/a\n.metadata.json", "*.metadata.json", True),
        ("alice/a.metadata.json\n", "*.metadata.json", False),
        ("bob/\nalice/a.txt", "alice/*", False),
        ("Alice/a.txt", "alice/*", False),
        ("alice.a", "alice/*", False),
        ("a", "?", True),
        ("[a]", "[a]", True),
    ],
)
def test_a_wildcard_is_any_character_and_the_whole_key_is_meant(
    key: str, pattern: str, matches: bool
) -> None:
    assert iam_evaluator.fnmatch_iam_cs(f"{BUCKET}/{key}", f"{BUCKET}/{pattern}") is matches


@pytest.mark.usefixtures("mended")
def test_an_action_is_matched_in_any_casing() -> None:
    assert iam_evaluator.fnmatch_iam("s3:getobject", "S3:Get*")
