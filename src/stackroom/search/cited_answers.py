"""
Answer a question: a model writes an answer from the passages that a search finds.

    Answering(retrieval=Retrieval(...), writer=ConverseWriter(...)).ask("how much leave?", catalog)

The model reads exactly what an agent would be shown for the same question.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseThrottled,
    NoResults,
    RetrievalError,
    RetrievalFailed,
    Throttled,
    Unavailable,
)
from stackroom.model.questions import QuestionMeter
from stackroom.model.records import Catalog
from stackroom.model.usage import Used
from stackroom.search.excerpts import Source
from stackroom.search.metered import used_by
from stackroom.search.results import Result, SearchAnswer
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import RetrieveArguments


@dataclass(frozen=True, kw_only=True)
class Mark:
    """
    A citation mark: the passages from which the text that ends at `end` was written.

    `end` is a position in the whole answer. `numbers` count the passages from 1, in the order in
    which the writer received them.
    """

    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Written:
    """
    A model's answer: the text without marks, and the marks in the order of their positions.

    `guardrail_action` is INTERVENED if a guardrail wrote or changed the text, else NONE. The tokens
    are those that the model is billed for.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    guardrail_action: str = "NONE"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


Hear = Callable[[str], None]


class Writer(Protocol):
    """A language model that answers from passages. Several threads may call it at once."""

    def write(self, question: str, passages: Sequence[str], *, hear: Hear | None = None) -> Written:
        """
        Return an answer from these passages, of which there must be at least one. If the model
        streams its words, `hear` is called repeatedly with all that is written so far.

        The passages are quoted data, whatever they ask the model to do.

        Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable.
        """


# A model's words are shown so that nobody can take them for the tool's own. The model has read
# documents that anyone may have written, and may repeat what they tell it to. What a tool says
# around an answer is a heading, a list of numbered files, and numbers in brackets; a line of the
# answer that looks like one of these is set as a quotation.

_QUOTE = "> "
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_NO_TEXT = {"Cc", "Cf", "Co", "Cs"}  # control, format (bidirectional too), private use, halves
_KEPT = {"\n", "\t", "\u200c", "\u200d"}  # the joiners are part of Persian, of emoji and others
_IMAGE = re.compile(r"!(?=\[)")
_NUMBER = re.compile(r"\[(\s*[0-9]+\s*)\]")

_EMPHASIS = re.compile(r"\*{2,}|_{2,}")
_MARKS = re.compile(r"(?:\s*\[[0-9]+\])+$")
_NO_WORD = re.compile(r"[\W_0-9]+")
_HEADING = re.compile(r"sources?|references?|citations?|basedonyourdocuments|error", re.IGNORECASE)
_OPENING = re.compile(r"\W*(?:sources?|error|based on your documents)\W*:", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[0-9]+\s*[.):]|[-*+•])\s")
_FILE_AT_END = re.compile(r"(?:\.[a-z0-9]{2,5}|\((?:page|section)\b[^)]*\))\W*$", re.IGNORECASE)
_LONGEST_END = 300  # characters of a line that are looked at for a file: a section is no longer


def cleaned(text: str) -> str:
    """
    Return the text without invisible characters and those that change the direction of text.

    A number in brackets becomes one in parentheses, because brackets mark our citations. An image
    becomes a link: a client that renders it would fetch it, and so leak data to its address.
    """
    text = _LINE_ENDS.sub("\n", text)
    seen = (each for each in text if each in _KEPT or unicodedata.category(each) not in _NO_TEXT)
    return _IMAGE.sub("", _NUMBER.sub(r"(\1)", "".join(seen)))


def quoted(text: str) -> str:
    """
    Return a `cleaned` answer, with or without citation marks, in which no line looks like the
    tool's.
    """
    return "\n".join(_quoted(line) for line in text.strip().split("\n"))


def _quoted(line: str) -> str:
    # Nothing in bold, in whatever letters it is written: that is what the tool's headings are.
    line = _EMPHASIS.sub("", line).rstrip()
    return _QUOTE + line.lstrip() if _imitates(line) else line


def _imitates(line: str) -> bool:
    plain = _MARKS.sub("", unicodedata.normalize("NFKC", line))
    return (
        _HEADING.fullmatch(_NO_WORD.sub("", plain)) is not None
        or _OPENING.match(plain) is not None
        or (
            _ITEM.match(plain) is not None
            and _FILE_AT_END.search(plain[-_LONGEST_END:]) is not None
        )
    )


_WRITTEN = "A guardrail intervened; it wrote or changed what follows."
_HELD_BACK = "A guardrail intervened; it held back passages that were found."


@dataclass(frozen=True, kw_only=True)
class CitedSource:
    """
    A cited passage. `chunk_text` is the whole passage, whatever part of it the model was shown.

    `other_sources` are documents with exactly the same text. `gaps` say what of its own document
    can't be found.
    """

    source: Source
    chunk_text: str
    relevance_score: float
    other_sources: tuple[Source, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CatalogAnswer:
    """
    An answer about one catalog; `[1]` in the text cites the first of `sources`, in order of
    citation.

    There are no sources if a guardrail intervened, because it doesn't examine them [AWS: Query a
    knowledge base and generate responses]; then `guardrail_action` is INTERVENED.
    """

    text: str
    sources: tuple[CitedSource, ...]
    guardrail_action: str


def _written_by_guardrail(text: str, action: str) -> CatalogAnswer:
    """Return the answer for a text that a guardrail wrote or changed."""
    message = f"{_WRITTEN}\n\n{_marked(text, ())}"
    return CatalogAnswer(text=message, sources=(), guardrail_action=action)


def _held_back(action: str, text: str = "") -> CatalogAnswer:
    """
    Return the answer if a guardrail withheld passages; `text` was written from the remaining ones.
    """
    answer = f"\n\n{_marked(text, ())}" if text else ""
    return CatalogAnswer(text=_HELD_BACK + answer, sources=(), guardrail_action=action)


def _marked(text: str, marks: Iterable[tuple[int, Collection[int]]]) -> str:
    """
    Return the quoted answer with the numbers of its sources after each piece of text that cites
    any.

    `marks` are positions in the text, in ascending order, with the numbers to insert there.
    """
    pieces, at = [], 0
    for end, numbers in marks:
        piece = cleaned(text[at:end])
        shown = "".join(f"[{number}]" for number in sorted(numbers))
        words = piece.rstrip()
        pieces.append(f"{words} {shown}{piece[len(words) :]}" if shown and words else piece + shown)
        at = end
    return quoted("".join(pieces) + cleaned(text[at:]))


_NO_ANSWER = "No answer found in your documents."
_MOST_NEAREST = 3  # sources that are named where no passage answers
_TOO_SLOW = "No answer was written in time. Try again, or read the passages below."


@dataclass(frozen=True, kw_only=True)
class AskedAndAnswered:
    """A search with its answer. If `answer` is None, `unanswered` explains to a person why."""

    passages: SearchAnswer
    answer: CatalogAnswer | None = None
    unanswered: str = ""


@dataclass(frozen=True, kw_only=True)
class Answering:
    """
    Answers questions from what `retrieval` finds. `meter` counts each question once.

    No model is called if nothing is found.
    """

    retrieval: Retrieval
    writer: Writer
    meter: QuestionMeter

    def ask(self, query: str, catalog: Catalog, num_results: int = 5) -> CatalogAnswer:
        """
        Return an answer from at most `num_results` passages of the catalog, with the passages it
        cites.

        Raises NoResults, with the nearest sources, if no passage answers the question; Throttled or
        RetrievalFailed if no knowledge base replied; LimitExceeded if the owner's month is spent.
        """
        self.meter.require_room(catalog.user_id)
        found = self.retrieval.in_catalog(query, catalog, num_results)
        count = partial(self.meter.count, catalog.user_id, catalog_id=catalog.catalog_id)
        return self._counted(query, found, count)

    def search_and_ask(
        self,
        request: RetrieveArguments,
        caller: Caller,
        *,
        within: Collection[str] = (),
        hear: Hear | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> AskedAndAnswered:
        """
        Return a search result for a person, in one catalog, in those `within` or in all, and an
        answer written from it. `hear` is called with the growing answer, without citations.

        Every citation of the answer can be looked up in the result. If the model fails, or exceeds
        the deadline, the passages are returned without an answer. Raises what `Retrieval.search`
        raises, and LimitExceeded.
        """
        self.meter.require_room(caller.user_id)
        passages = self.retrieval.search(request, caller, within=within, deadline=deadline)
        count = partial(self.meter.count, caller.user_id, catalog_id=request.catalog_id)
        if not passages.results:
            count(used_by(request.query, passages))
            return AskedAndAnswered(passages=passages, unanswered=_NO_ANSWER)
        try:
            write = partial(self._counted, request.query, passages, count, hear)
            answer = _by(deadline, write)
        except TimeoutError:
            return AskedAndAnswered(passages=passages, unanswered=_TOO_SLOW)
        except NoResults:
            return AskedAndAnswered(passages=passages, unanswered=_NO_ANSWER)
        except RetrievalError as error:
            message = f"No answer was written: {error}."
            return AskedAndAnswered(passages=passages, unanswered=message)
        return AskedAndAnswered(passages=passages, answer=answer)

    def _counted(
        self,
        query: str,
        found: SearchAnswer,
        count: Callable[..., None],
        hear: Hear | None = None,
    ) -> CatalogAnswer:
        """Return an answer from what a search found for it. Raises what `ask` raises."""
        used, model = used_by(query, found), ""
        try:
            written = self._written(query, found, hear)
            if isinstance(written, Written):
                model = written.model
                used += Used(
                    model_input_tokens=written.input_tokens,
                    model_output_tokens=written.output_tokens,
                )
                return _answer(written, found)
            return written
        finally:
            count(used, model=model)

    def _written(
        self, query: str, found: SearchAnswer, hear: Hear | None
    ) -> Written | CatalogAnswer:
        homes = ", ".join(found.knowledge_bases)
        if not found.results:
            if found.guardrail_action != "NONE":
                return _held_back(found.guardrail_action)
            raise NoResults
        try:
            texts = [cleaned(each.content) for each in found.results]
            if hear is None or found.guardrail_action != "NONE":
                return self.writer.write(query, texts)
            return self.writer.write(query, texts, hear=lambda text: hear(_marked(text, ())))
        except KnowledgeBaseThrottled as error:
            failures = {homes: str(error)}
            raise Throttled("the model", failures, retry_after=error.retry_after) from error
        except Unavailable as error:
            problem = "the question got no answer; try again, or tell the operator"
            raise RetrievalFailed(problem, {homes: str(error)}) from error


def _answer(written: Written, found: SearchAnswer) -> CatalogAnswer:
    if written.guardrail_action != "NONE":
        return _written_by_guardrail(written.text, written.guardrail_action)
    places = _places(written, found.results)
    if found.guardrail_action != "NONE":
        # Without a citation it would be the model's invention all the same.
        return _held_back(found.guardrail_action, written.text if places else "")
    if not places:
        raise NoResults(_nearest(found.results))
    marks = [(each.end, {places[number] for number in each.numbers}) for each in written.marks]
    return CatalogAnswer(
        text=_marked(written.text, marks),
        sources=tuple(_source(found.results[number - 1]) for number in places),
        guardrail_action="NONE",
    )


def _places(written: Written, results: Sequence[Result]) -> dict[int, int]:
    """Map the numbers of the cited passages to their positions among the sources."""
    numbers = [number for mark in written.marks for number in mark.numbers]
    assert all(1 <= number <= len(results) for number in numbers), "the port promises so"
    return {number: place for place, number in enumerate(dict.fromkeys(numbers), start=1)}


def _nearest(results: Sequence[Result]) -> list[dict[str, object]]:
    """Return the places of the first sources, without repeats."""
    sources = dict.fromkeys(
        (each.source.filename, each.source.document_id, each.source.page, each.source.section)
        for each in results
    )
    names = ("filename", "document_id", "page", "section")
    return [dict(zip(names, each, strict=True)) for each in list(sources)[:_MOST_NEAREST]]


def _source(result: Result) -> CitedSource:
    return CitedSource(
        source=result.source,
        other_sources=result.other_sources,
        chunk_text=result.text,
        relevance_score=result.score,
        gaps=result.gaps,
    )


def _by(deadline: Deadline, write: Callable[[], CatalogAnswer]) -> CatalogAnswer:
    """
    Return the answer, or raise TimeoutError if it is not written by the deadline.

    The call itself goes on until the model's own timeout; its result is discarded.
    """
    thread = ThreadPoolExecutor(1)
    try:
        left = None if math.isinf(deadline.at) else deadline.left()
        return thread.submit(write).result(timeout=left)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
