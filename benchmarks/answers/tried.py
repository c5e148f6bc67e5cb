"""
What was tried for better answers, and not kept: the figures of decision 0033.

    .venv/bin/python -m benchmarks.answers.tried       two passes over all passages: 20 minutes

The English documents and the questions to tune on alone; the set `report` is never looked at. All
of it in this process: passages are read, cut and embedded as the simulator does it, candidates are
found by meaning and by words, and put in order as the product does, or as what was tried would.
"""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pypdfium2

from bedrock_kb_simulator.chunk_strategies import Chunking
from bedrock_kb_simulator.embedder import MiniLM
from bedrock_kb_simulator.file_pages import pages_of
from bedrock_kb_simulator.text_search import words_asked
from benchmarks.answers.corpus import Document, fetched
from benchmarks.answers.given import CANDIDATES
from benchmarks.answers.judging import Pages
from benchmarks.answers.layout import aligned
from benchmarks.answers.questions import Question, questions
from benchmarks.serving import measure, print_machine
from stackroom.inspection.extraction import read_pages
from stackroom.inspection.place_map import PlaceMap
from stackroom.search.question_words import matched
from stackroom_evaluation.judging import Shown, first_right

Order = list[int]  # of passages, by their numbers
_FUSION = 60


@dataclass(frozen=True)
class Passage:
    document: str
    text: str
    headings: str  # title of the document and what the passage stands under


def main() -> None:
    logging.disable(logging.WARNING)  # bookmarks below the fourth level are left out on purpose
    print_machine()
    asked = [each for each in questions() if each.set == "tune" and each.language == "en"]
    answerable = [each for each in asked if each.spots]
    named = {spot.file for each in answerable for spot in each.spots}
    documents = [each for each in fetched() if _is_english(each, named)]
    passages = [each for document in documents for each in passages_of(document)]
    print(f"{len(passages):,} passages, {len(answerable)} questions", flush=True)
    model = MiniLM()
    told = np.array([model.embed_question(each.question) for each in answerable])
    bare = told @ np.array([model.embed(each.text) for each in passages]).T
    headed = [f"{each.headings}\n{each.text}" for each in passages]
    with_headings = told @ np.array([model.embed(each) for each in headed]).T
    texts = [each.text for each in passages]
    shelf = Shelf(passages, answerable)
    rows = [
        ("as it is", shelf.figures(bare, texts)),
        ("headings embedded in front", shelf.figures(with_headings, texts)),
        ("headings embedded, and among the words", shelf.figures(with_headings, headed)),
        ("headings among the words alone", shelf.figures(bare, headed)),
        ("k of the fusion 20", shelf.figures(bare, texts, fusion=20)),
        ("k of the fusion 10", shelf.figures(bare, texts, fusion=10)),
        ("words weigh half more", shelf.figures(bare, texts, weights=(1, 1.5, 0))),
        ("meaning weighs half more", shelf.figures(bare, texts, weights=(1.5, 1, 0))),
        ("the index's order by words, too", shelf.figures(bare, texts, weights=(1, 1, 1))),
        ("shown with its neighbours", shelf.figures(bare, texts, shown=shelf.with_neighbours)),
    ]
    head = ("", "first", "in three", "in five")
    print(aligned([head, *[(name, *[f"{each:.1%}" for each in found]) for name, found in rows]]))


def _is_english(document: Document, named: set[str]) -> bool:
    """One that an English question is asked of, or of which no question of another language is."""
    others = {spot.file for each in questions() if each.language != "en" for spot in each.spots}
    return document.id in named or document.id not in others


def passages_of(document: Document) -> Iterator[Passage]:
    text = "\n".join(pages_of(document.body, document.name))
    under = _outline(document) if document.name.endswith(".pdf") else _sections(document)
    for each in Chunking().split(text):
        headings = " > ".join([document.title, *under(each)])
        yield Passage(document.id, each, headings)


def _outline(document: Document) -> Callable[[str], Sequence[str]]:
    """Of the page that has most of a passage: the bookmarks that lead to it."""
    bookmarks = []
    for each in pypdfium2.PdfDocument(document.body).get_toc(max_depth=4):
        destination = each.get_dest()
        if destination is not None and destination.get_index() is not None:
            bookmarks.append((each.level, each.get_title(), destination.get_index()))
    pages = Pages(document)

    def under(passage: str) -> Sequence[str]:
        page = min(pages.most_of(passage), default=0) - 1
        path: dict[int, str] = {}
        for level, title, at in bookmarks:
            if at <= page:
                path = {**{k: v for k, v in path.items() if k < level}, level: title}
        return list(path.values())

    return under


def _sections(document: Document) -> Callable[[str], Sequence[str]]:
    places = PlaceMap.of("", read_pages(document.body, document.name))

    def under(passage: str) -> Sequence[str]:
        section = places.place_of(passage).section if places else None
        return [section] if section else []

    return under


@dataclass(frozen=True)
class Shelf:
    passages: Sequence[Passage]
    asked: Sequence[Question]

    def figures(
        self,
        cosines: np.ndarray,
        texts: Sequence[str],
        *,
        fusion: int = _FUSION,
        weights: tuple[float, float, float] = (1, 1, 0),
        shown: Callable[[int], str] | None = None,
    ) -> list[float]:
        """
        The shares of questions with a right passage first, among three and among five.

        `weights` are those of meaning, of words among the candidates, and of words in the index.
        """
        show = shown or (lambda at: self.passages[at].text)
        ranks = []
        for question, row, by_words in zip(self.asked, cosines, self._by_words, strict=True):
            near = list(np.argsort(-row)[:CANDIDATES])
            candidates = _fused([near, by_words], [1, 1], _FUSION)[:CANDIDATES]
            lowest = min(row[near])
            found = set(near)
            meaning = sorted(candidates, key=lambda at: -(row[at] if at in found else lowest))
            matches = matched(question.question, [texts[at] for at in candidates])
            words = [candidates[at] for at in matches.order]
            order = _fused([meaning, words, by_words], weights, fusion)[:5]
            passages = [Shown(text=show(at), file=self.passages[at].document) for at in order]
            ranks.append(first_right(question.spots, passages))
        return [
            sum(rank is not None and rank <= most for rank in ranks) / len(ranks)
            for most in (1, 3, 5)
        ]

    def with_neighbours(self, at: int) -> str:
        document = self.passages[at].document
        around = self.passages[max(0, at - 1) : at + 2]
        return "\n".join(each.text for each in around if each.document == document)

    @cached_property
    def _by_words(self) -> list[Order]:
        """Of the whole index, for each question."""
        database = sqlite3.connect(":memory:")
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
        rows = [(at, each.text) for at, each in enumerate(self.passages)]
        database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
        best = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?"
        return [
            [row for (row,) in database.execute(best, (" OR ".join(words), CANDIDATES))]
            for words in (words_asked(each.question, "en") for each in self.asked)
        ]


def _fused(orders: Sequence[Order], weights: Sequence[float], fusion: int) -> Order:
    shares: defaultdict[int, float] = defaultdict(float)
    for order, weight in zip(orders, weights, strict=True):
        for rank, at in enumerate(order, start=1):
            shares[at] += weight / (fusion + rank)
    return sorted(shares, key=lambda at: -shares[at])


if __name__ == "__main__":
    measure(main)
