"""A tool with prepared answers, in the form of the gateway's answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackroom_evaluation.evaluation import Evaluation
from stackroom_evaluation.question_file import KnownQuestion


def passage(text: str, file: str, *, score: float = 0.5, **place: int) -> dict[str, Any]:
    source = {"filename": file, "page": None, "section": None, **place}
    return {"content": text, "source": source, "score": score, "metadata": {}}


def answer(*results: dict[str, Any], **metadata: object) -> dict[str, Any]:
    return {"success": True, "results": list(results), "metadata": {"search": "hybrid", **metadata}}


def evaluated(
    answers: Mapping[KnownQuestion, Sequence[dict[str, Any]]],
    relevance: Mapping[KnownQuestion, str] | None = None,
    **options: object,
) -> Evaluation:
    """Return an evaluation of these passages; `relevance` is by question, where it is known."""
    extras = {
        each.question: {"relevance": each_relevance}
        for each, each_relevance in (relevance or {}).items()
    }
    by_text = {
        each.question: answer(*results, **extras.get(each.question, {}))
        for each, results in answers.items()
    }

    def retrieve(arguments: dict[str, Any]) -> dict[str, Any]:
        return by_text[arguments["query"]]

    return Evaluation.of(answers, retrieve, catalog="books", site="here", options=options)
