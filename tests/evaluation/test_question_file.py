"""Tests of reading a file of questions, valid or not."""

import json
from pathlib import Path

import pytest

from stackroom_evaluation.judging import Spot
from stackroom_evaluation.question_file import EvaluationError, QuestionsWrong, read

GOOD = {"question": "How many days?", "file": "a.pdf", "page": 3, "words": "thirty days"}


def a_file(folder: Path, *lines: object) -> Path:
    path = folder / "questions.jsonl"
    path.write_bytes(
        b"\n".join(
            each if isinstance(each, bytes) else json.dumps(each, ensure_ascii=False).encode()
            for each in lines
        )
    )
    return path


def test_question_has_places_or_nothing_and_may_await_acceptance(tmp_path: Path) -> None:
    also = {**GOOD, "question": "And here?", "also": [{"file": "b.md"}]}
    far = {"question": "Who won?", "nothing": True, "accepted": False, "note": "far"}

    found = read(a_file(tmp_path, GOOD, b"", also, b"\xef\xbb\xbf" + json.dumps(far).encode()))

    assert list(found) == [1, 3, 4]
    assert found[1].spots == (Spot("a.pdf", "thirty days", (3,)),)
    assert found[3].spots == (Spot("a.pdf", "thirty days", (3,)), Spot("b.md"))
    assert (found[4].spots, found[4].accepted) == ((), False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question": "a"}, 'needs a file that answers it, or "nothing": true'),
        ({**GOOD, "nothing": True}, '"nothing": true excludes file'),
        ({**GOOD, "pages": [3]}, "'pages' is unknown; allowed: question, file, page, words"),
        ({**GOOD, "words": "..."}, "words: must contain a letter or digit"),
        ({**GOOD, "question": "x" * 1_001}, "question: has more than 1,000 characters"),
        ({**GOOD, "question": "\x1b[2J"}, "question: has a control character"),
        (b"[" * 5_000, "is not a JSON object"),
        (b'{"question": "caf\xe9"}', "is not UTF-8; save the file in that encoding"),
        ("x" * 70_000, "longer than 65,536 bytes"),
        (GOOD, "repeats the question of line 1"),
        (b'{"question": "a", "file": "a.md", "file": "b.md"}', "'file' occurs twice in one object"),
    ],
    ids=lambda each: str(each)[:60],
)
def test_invalid_line_is_named_with_the_allowed_form(
    tmp_path: Path, line: object, message: str
) -> None:
    with pytest.raises(QuestionsWrong) as wrong:
        read(a_file(tmp_path, GOOD, line))

    assert "line 2: " in str(wrong.value)
    assert message in str(wrong.value)


def test_too_large_question_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionsWrong, match="line 247: the file is larger than 16,000,000 bytes"):
        read(a_file(tmp_path, *[b" " * 65_000] * 300))


@pytest.mark.parametrize("path", ["/dev/zero", ".", "nowhere.jsonl", "/dev/null"])
def test_path_that_is_not_a_question_file_is_refused(path: str) -> None:
    with pytest.raises(EvaluationError, match=path):
        read(Path(path))
