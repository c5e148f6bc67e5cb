"""
Questions with known answers, one JSON object per line, as people write them.

    {"question": "How many days of leave?", "file": "handbook.pdf", "page": 12,
     "words": "every employee has thirty days of paid leave"}
    {"question": "Who won the world cup of 1998?", "nothing": true}

`file` is a name in the catalog; `page`, `words` or both say where in it; `also` lists further
places. A question with `accepted` false waits for a person, and may lack its answer. The file is
untrusted: it is read within limits, and no name in it is ever opened.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)

from stackroom.access.tool import Line, Text
from stackroom.catalogs.feedback import LAST_PAGE
from stackroom.errors import StackroomError
from stackroom.text.running_lines import normalise
from stackroom_evaluation.judging import Spot

MOST_QUESTIONS = 5_000
LARGEST_FILE = 16_000_000  # bytes: 5,000 questions with 3,000 letters each
_LONGEST = 65_536  # bytes of a line
SHOWN_LINES = 20  # lines with errors that are shown
_MEMBERS = 100  # of a JSON object: ours have far fewer
SHOWN_LETTERS = 100  # letters of an unknown name that are shown
_File = Annotated[Line, Field(min_length=1, max_length=1024)]  # the limit of a key in S3
_Page = Annotated[int, Field(ge=1, le=LAST_PAGE, strict=True)]


class EvaluationError(StackroomError):
    """An evaluation could not be measured; the message says why, and what to do."""


class QuestionsWrong(EvaluationError):
    """
    Lines of the file are invalid; `lines` say which, and what is allowed; `count` is their number.
    """

    def __init__(self, path: Path, lines: Sequence[str], count: int = 0) -> None:
        left = max(count, len(lines)) - SHOWN_LINES
        more = f"\nand {left:,} more" if left > 0 else ""
        super().__init__(f"{path} has invalid lines:\n" + "\n".join(lines[:SHOWN_LINES]) + more)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class AnswerPlace(_Part):
    file: _File
    page: _Page | None = None
    words: Text | None = Field(default=None, min_length=1, max_length=2000)

    @model_validator(mode="after")
    def _has_letters(self) -> Self:
        if self.words is not None and not normalise(self.words):
            raise ValueError("words: must contain a letter or digit")
        return self

    @property
    def spot(self) -> Spot:
        return Spot(self.file, self.words, () if self.page is None else (self.page,))


class KnownQuestion(_Part):
    """A line of the file: a question with its answer."""

    question: Text = Field(min_length=1, max_length=1000)
    file: _File | None = None
    page: _Page | None = None
    words: Text | None = Field(default=None, min_length=1, max_length=2000)
    also: Annotated[tuple[AnswerPlace, ...], Field(max_length=100)] = ()
    nothing: StrictBool = False
    accepted: StrictBool = True
    note: Text | None = Field(default=None, max_length=2000)

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Self:
        has_place = self.page is not None or self.words is not None or bool(self.also)
        if self.nothing and (self.file is not None or has_place):
            raise ValueError('"nothing": true excludes file, page, words and also')
        if self.accepted and self.is_open:
            raise ValueError('a question needs a file that answers it, or "nothing": true')
        if self.file is not None:
            self._first()
        return self

    @property
    def is_open(self) -> bool:
        """True if the answer is not known yet."""
        return not self.nothing and self.file is None

    def _first(self) -> AnswerPlace:
        assert self.file is not None, "the question has an answer"
        return AnswerPlace(file=self.file, page=self.page, words=self.words)

    @property
    def places(self) -> tuple[AnswerPlace, ...]:
        """The places of the answer; empty if the question is unanswerable or open."""
        return () if self.file is None else (self._first(), *self.also)

    @property
    def spots(self) -> tuple[Spot, ...]:
        return tuple(each.spot for each in self.places)

    @property
    def id(self) -> str:
        """The id, which is the same for the same question and answer in any file."""
        content = [self.question, *[each.model_dump() for each in self.places]]
        return f"q-{hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]}"

    @property
    def line(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


def read(path: Path) -> dict[int, KnownQuestion]:
    """Return the questions by line, from 1. Raises QuestionsWrong with every invalid line."""
    found: dict[int, KnownQuestion] = {}
    first: dict[str, int] = {}
    errors: list[str] = []
    for number, line in _lines(path):
        try:
            question = _parse(line)
        except ValueError as error:
            errors.append(f"line {number}: {error}")
            continue
        if (known := first.setdefault(question.question, number)) != number:
            errors.append(f"line {number}: repeats the question of line {known}")
        found[number] = question
        if len(found) > MOST_QUESTIONS:
            raise QuestionsWrong(path, [f"line {number}: more than {MOST_QUESTIONS:,} questions"])
    if errors:
        raise QuestionsWrong(path, errors)
    if not found:
        raise QuestionsWrong(path, ["no questions; write one per line, or draft some: --draft"])
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, reading no more of any file than the limits allow."""
    try:
        with path.open("rb") as file:
            number = read = 0
            while line := file.readline(_LONGEST + 1):
                number, read = number + 1, read + len(line)
                if read > LARGEST_FILE:
                    problem = f"line {number}: the file is larger than {LARGEST_FILE:,} bytes"
                    raise QuestionsWrong(path, [problem])
                if len(line) > _LONGEST:
                    problem = f"line {number}: longer than {_LONGEST:,} bytes"
                    raise QuestionsWrong(path, [problem])
                if line.strip():
                    yield number, line
                if number > 2 * MOST_QUESTIONS:
                    raise QuestionsWrong(
                        path, [f"line {number}: more lines than the limit of questions"]
                    )
    except FileNotFoundError:
        raise EvaluationError(f"{path} does not exist; --draft proposes questions") from None
    except OSError as error:
        problem = f"{path} can't be read: {error.strerror or error}"
        raise EvaluationError(problem) from error


def _parse(line: bytes) -> KnownQuestion:
    """Return the question of a line. Raises ValueError with a sentence."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8; save the file in that encoding") from error
    try:
        question = KnownQuestion.model_validate_json(text)
    except ValidationError as error:
        raise ValueError("; ".join(_sentence(each) for each in error.errors()[:3])) from None
    json.loads(text, object_pairs_hook=unique_members)
    return question


def unique_members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an untrusted JSON object. Raises ValueError with a sentence."""
    if len(pairs) > _MEMBERS:
        raise ValueError(f"an object has more than {_MEMBERS} members")
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"{repeated[:SHOWN_LETTERS]!r} occurs twice in one object")
    return found


def _sentence(error: Mapping[str, Any]) -> str:
    """Return the sentence for a validation error of pydantic."""
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        part = KnownQuestion if len(error["loc"]) == 1 else AnswerPlace
        return f"{where[:SHOWN_LETTERS]!r} is unknown; allowed: {', '.join(part.model_fields)}"
    if error["type"] == "json_invalid":
        return f"is not a JSON object: {error['ctx']['error']}"
    message = str(error["msg"]).removeprefix("Value error, ")
    if isinstance(error["input"], str) and "max_length" in error.get("ctx", {}):
        message = f"has more than {error['ctx']['max_length']:,} characters"
    return f"{where}: {message}" if where else message


# Replaced atomically, so that a crash leaves the old file or the new one, never a part.


def replace(path: Path, body: bytes) -> None:
    """
    Replace a file or link without following it. Raises EvaluationError; then nothing is changed.
    """
    draft = path.parent / f".{secrets.token_hex(8)}.draft"
    try:
        try:
            with draft.open("xb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            if path.is_file():
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> EvaluationError:
    return EvaluationError(f"{path} can't be written: {error.strerror or error}")
