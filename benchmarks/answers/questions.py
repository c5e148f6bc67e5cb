"""
Questions about the own documents with the passages that answer them, from questions/*.jsonl.

    {"id": "r-intro-07", "set": "tune", "question": "...", "document": "r-intro", "pages": [12],
     "quote": "5 to 25 words of the passage that answers", "alternatives": [...]}
    {"id": "far-03", "set": "report", "question": "...", "unanswerable": true, "kind": "far",
     "why": "..."}

`language` is that of question and document, English by default. Only the set `tune` serves for
tuning; `report` is the reported one. Unanswerable questions are `near` to the documents' topics, or
`far` from them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackroom_evaluation.judging import Spot

_FOLDER = Path(__file__).with_name("questions")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question; it is unanswerable without `spots`, whose files are ids of documents."""

    set: str
    question: str
    spots: tuple[Spot, ...]


def questions() -> Iterator[Question]:
    for file in sorted(_FOLDER.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            fields = json.loads(line)
            places = [] if fields.get("unanswerable") else [fields, *fields.get("alternatives", [])]
            yield Question(
                set=fields["set"],
                question=fields["question"],
                spots=tuple(
                    Spot(each["document"], each["quote"], tuple(each.get("pages", ())))
                    for each in places
                ),
            )
