"""
What is asked of the own documents, and the passage that answers it: questions/*.jsonl, a line each.

    {"id": "r-intro-07", "set": "tune", "question": "...", "document": "r-intro", "pages": [12],
     "quote": "5 to 25 words of the passage that answers", "alternatives": [...]}
    {"id": "far-03", "set": "report", "question": "...", "unanswerable": true, "kind": "far",
     "why": "..."}

Without a `language` it is English, as the document is; else the document is of that, too. Whoever
tunes looks at the set `tune` only; what is reported of is `report`. Unanswerable questions are
`near` to what the documents are about, or `far` from it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackroom_evaluation.judging import Spot

_FOLDER = Path(__file__).with_name("questions")


@dataclass(frozen=True, kw_only=True)
class Question:
    """There are no `spots` if it is unanswerable; their files are ids of documents."""

    set: str
    question: str
    spots: tuple[Spot, ...]


def questions() -> Iterator[Question]:
    for file in sorted(_FOLDER.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            told = json.loads(line)
            places = [] if told.get("unanswerable") else [told, *told.get("alternatives", [])]
            yield Question(
                set=told["set"],
                question=told["question"],
                spots=tuple(
                    Spot(each["document"], each["quote"], tuple(each.get("pages", ())))
                    for each in places
                ),
            )
