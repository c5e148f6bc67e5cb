"""
Questions whose answers are known, a JSON object a line, as a person writes them.

    {"question": "How many days of leave?", "file": "handbook.pdf", "page": 12,
     "words": "every employee has thirty days of paid leave"}
    {"question": "Who won the world cup of 1998?", "nothing": true}

`file` is a name in the catalog; `page`, `words` or both say where in it; `also` has more places
that answer. What has `accepted` false waits for a person, and may lack its answer. The file is
somebody else's to the program: it is read within bounds, and no name in it is ever opened.
"""

import fcntl
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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

from stackroom.access.plain_text import Line, Text
from stackroom.catalogs.feedback import LAST_PAGE
from stackroom.errors import StackroomError
from stackroom.text.running_lines import normalise
from stackroom_evaluation.judging import Spot

MOST_QUESTIONS = 5_000
LARGEST_FILE = 16_000_000  # bytes: 5,000 questions with 3,000 letters each
_LONGEST = 65_536  # bytes of a line
TOLD = 20  # lines that are wrong
_MEMBERS = 100  # of a JSON object: none of ours has nearly as many
NAME_TOLD = 100  # letters told of a name that is not known
_File = Annotated[Line, Field(min_length=1, max_length=1024)]  # a key of S3 has no more bytes
_Page = Annotated[int, Field(ge=1, le=LAST_PAGE, strict=True)]


class EvaluationError(StackroomError):
    """Nothing was measured; `str()` of it says why, and what to do."""


class QuestionsWrong(EvaluationError):
    """`lines` say which lines are wrong, and what is allowed there; `count` if there are more."""

    def __init__(self, path: Path, lines: Sequence[str], count: int = 0) -> None:
        left = max(count, len(lines)) - TOLD
        more = f"\nand {left:,} more" if left > 0 else ""
        super().__init__(f"{path} can't be asked:\n" + "\n".join(lines[:TOLD]) + more)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class AnswerPlace(_Part):
    file: _File
    page: _Page | None = None
    words: Text | None = Field(default=None, min_length=1, max_length=2000)

    @model_validator(mode="after")
    def _has_letters(self) -> Self:
        if self.words is not None and not normalise(self.words):
            raise ValueError("words: without a letter or digit")
        return self

    @property
    def spot(self) -> Spot:
        return Spot(self.file, self.words, () if self.page is None else (self.page,))


class KnownQuestion(_Part):
    """One line."""

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
            raise ValueError('"nothing": true has no file, page, words or also')
        if self.accepted and self.is_open:
            raise ValueError('a question has a file that answers it, or "nothing": true')
        if self.file is not None:
            self._first()
        return self

    @property
    def is_open(self) -> bool:
        """Whether nobody has said yet what answers it."""
        return not self.nothing and self.file is None

    def _first(self) -> AnswerPlace:
        assert self.file is not None, "it answers"
        return AnswerPlace(file=self.file, page=self.page, words=self.words)

    @property
    def places(self) -> tuple[AnswerPlace, ...]:
        """None if nothing answers, or nobody has said what does."""
        return () if self.file is None else (self._first(), *self.also)

    @property
    def spots(self) -> tuple[Spot, ...]:
        return tuple(each.spot for each in self.places)

    @property
    def id(self) -> str:
        """The same of the same question with the same answer, in whatever file."""
        told = [self.question, *[each.model_dump() for each in self.places]]
        return f"q-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"

    @property
    def line(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


def read(path: Path) -> dict[int, KnownQuestion]:
    """By line, counted from 1. Raises QuestionsWrong, naming every line that is wrong."""
    found: dict[int, KnownQuestion] = {}
    first: dict[str, int] = {}
    wrong: list[str] = []
    for number, line in _lines(path):
        try:
            question = _parsed(line)
        except ValueError as error:
            wrong.append(f"line {number}: {error}")
            continue
        if (known := first.setdefault(question.question, number)) != number:
            wrong.append(f"line {number}: asks the same as line {known}")
        found[number] = question
        if len(found) > MOST_QUESTIONS:
            raise QuestionsWrong(path, [f"line {number}: more than {MOST_QUESTIONS:,} questions"])
    if wrong:
        raise QuestionsWrong(path, wrong)
    if not found:
        raise QuestionsWrong(path, ["it has no question; write one a line, or draft some: --draft"])
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Those with something in them. Whatever the file is, no more is read than may be there."""
    try:
        with path.open("rb") as file:
            number = read = 0
            while line := file.readline(_LONGEST + 1):
                number, read = number + 1, read + len(line)
                if read > LARGEST_FILE:
                    told = f"line {number}: the file is larger than {LARGEST_FILE:,} bytes"
                    raise QuestionsWrong(path, [told])
                if len(line) > _LONGEST:
                    told = f"line {number}: longer than {_LONGEST:,} bytes"
                    raise QuestionsWrong(path, [told])
                if line.strip():
                    yield number, line
                if number > 2 * MOST_QUESTIONS:
                    raise QuestionsWrong(path, [f"line {number}: more lines than anybody asks"])
    except FileNotFoundError:
        raise EvaluationError(f"{path} is not there; --draft proposes questions") from None
    except OSError as error:
        told = f"{path} can't be read: {error.strerror or error}"
        raise EvaluationError(told) from error


def _parsed(line: bytes) -> KnownQuestion:
    """Raises ValueError, in a sentence."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8; save the file in that encoding") from error
    try:
        question = KnownQuestion.model_validate_json(text)
    except ValidationError as error:
        raise ValueError("; ".join(_sentence(each) for each in error.errors()[:3])) from None
    json.loads(text, object_pairs_hook=object_of)
    return question


def object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object that somebody else wrote. Raises ValueError, in a sentence."""
    if len(pairs) > _MEMBERS:
        raise ValueError(f"an object has more than {_MEMBERS} members")
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"{twice[:NAME_TOLD]!r} stands twice in one object")
    return found


def _sentence(error: Mapping[str, Any]) -> str:
    """Of an error as pydantic tells it."""
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        part = KnownQuestion if len(error["loc"]) == 1 else AnswerPlace
        return f"{where[:NAME_TOLD]!r} is not known; allowed: {', '.join(part.model_fields)}"
    if error["type"] == "json_invalid":
        return f"is no JSON object: {error['ctx']['error']}"
    told = str(error["msg"]).removeprefix("Value error, ")
    if isinstance(error["input"], str) and "max_length" in error.get("ctx", {}):
        told = f"has more than {error['ctx']['max_length']:,} characters"
    return f"{where}: {told}" if where else told


# Written so that a death at any moment leaves the old file or the new one, and never a half.


def replace(path: Path, body: bytes) -> None:
    """A link is replaced, and not followed. Raises EvaluationError; then nothing is changed."""
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
        raise unwritten(path, error) from error


@contextmanager
def alone_beside(path: Path) -> Iterator[None]:
    """While another run of ours waits that would write there; where files can't be locked, none."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise unwritten(path, error) from error
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def unwritten(path: Path, error: OSError) -> EvaluationError:
    return EvaluationError(f"{path} can't be written: {error.strerror or error}")
