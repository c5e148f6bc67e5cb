"""
What is asked, and the passage that answers it: questions/*.jsonl, one question a line.

    {"id": "r-intro-07", "set": "tune", "question": "...", "document": "r-intro", "pages": [12],
     "quote": "5 to 25 words of the passage that answers", "alternatives": [...]}
    {"id": "far-03", "set": "report", "question": "...", "unanswerable": true, "kind": "far",
     "why": "..."}

    {"id": "de-01", "set": "tune", "language": "de", ...}

Without a language it is English, as the document is; else the document is of that, too. Whoever
tunes looks at the set `tune` only; what is reported of is `report`. Unanswerable questions
are `near` to what the documents are about, or `far` from it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    PositiveInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from benchmarks.answers.corpus import Document, pages_of
from benchmarks.serving import NotMeasured
from stackroom.inspection.running_lines import normalise
from stackroom.search.question_words import is_unspaced, spaced
from stackroom_evaluation.judging import Spot

FOLDER = Path(__file__).with_name("questions")
_QUOTE_WORDS = range(5, 26)  # two letters count as one where words have no spaces between them
_Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Set = Literal["tune", "report"]
Language = Literal["en", "de", "fr", "es", "ja"]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Alternative(_Line):
    """A passage that answers: `pages` are those that the quote stands on; none without pages."""

    document: _Id
    pages: tuple[PositiveInt, ...] = ()
    quote: _Text

    @model_validator(mode="after")
    def _is_quotable(self) -> Self:
        words = spaced(self.quote).split()
        pairs = sum(map(is_unspaced, words))
        if len(words) - pairs // 2 not in _QUOTE_WORDS:
            raise ValueError("a quote has 5 to 25 words")
        return self

    @property
    def spot(self) -> Spot:
        return Spot(self.document, self.quote, self.pages)


class Question(_Line):
    """`spots` answers with where the answer stands; there are none if it is unanswerable."""

    id: _Id
    set: Set
    language: Language = "en"
    question: Annotated[_Text, StringConstraints(max_length=1000)]
    document: _Id | None = None
    pages: tuple[PositiveInt, ...] = ()
    quote: _Text | None = None
    alternatives: tuple[Alternative, ...] = ()
    unanswerable: bool = False
    kind: Literal["near", "far"] | None = None
    why: str | None = None

    @property
    def spots(self) -> tuple[Spot, ...]:
        if self.document is None or self.quote is None:
            return ()
        first = Alternative(document=self.document, pages=self.pages, quote=self.quote)
        return tuple(each.spot for each in (first, *self.alternatives))

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Self:
        has_spot = self.document is not None and self.quote is not None
        if self.unanswerable:
            if self.document or self.quote or self.pages or self.alternatives or not self.kind:
                raise ValueError("an unanswerable question has a kind, and no passage")
        elif not has_spot or self.kind:
            raise ValueError("a question has a document and a quote, or is unanswerable")
        return self


def questions(folder: Path = FOLDER) -> list[Question]:
    """All of them, in the order of the files. Raises NotMeasured, naming the line that is wrong."""
    found = list(_read(sorted(folder.glob("*.jsonl"))))
    known = set[str]()
    for question in found:
        if question.id in known:
            raise NotMeasured(f"two questions have the id {question.id!r}")
        known.add(question.id)
    return found


def shared(
    documents: Sequence[Document], asked: Sequence[Question], share: int
) -> tuple[list[Document], list[Question]]:
    """Every nth document, what can be asked of these alone, and every nth without an answer."""
    kept = list(documents[::share])
    named = {document.id for document in kept}
    answerable = [
        each for each in asked if each.spots and {spot.file for spot in each.spots} <= named
    ]
    return kept, [*answerable, *[each for each in asked if each.unanswerable][::share]]


def problems(asked: Sequence[Question], documents: Sequence[Document]) -> Iterator[str]:
    """What the questions say of the documents and isn't so: the quote must stand on its page."""
    named = {document.id: document for document in documents}
    for question in asked:
        for spot in question.spots:
            if spot.file not in named:
                yield f"{question.id}: no document {spot.file!r}"
            elif wrong := _wrong(spot, named[spot.file]):
                yield f"{question.id}: {wrong}"


def _wrong(spot: Spot, document: Document) -> str | None:
    assert spot.words is not None, "each has a quote"
    quote = normalise(spot.words)
    pages = pages_of(document)
    standing = {page.number for page in pages if quote in normalise(page.text)}
    if not standing:
        return f"no page of {document.id} has the quote {spot.words!r}"
    numbered = {number for number in standing if number is not None}
    if numbered and not spot.pages:
        return f"says no page; the quote is on {sorted(numbered)}"
    if strays := set(spot.pages) - numbered:
        return f"the quote is on {sorted(numbered)}, not on {sorted(strays)}"
    return None


def _read(files: Sequence[Path]) -> Iterator[Question]:
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield Question.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise NotMeasured(f"{file.name}:{number}: {error}") from error
