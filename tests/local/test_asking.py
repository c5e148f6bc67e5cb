"""Output of `stackroom ask` for the passages found."""

from io import StringIO

from rich.console import Console

from stackroom_cli.retrieve_tool import print_passages


def printed(*results: dict[str, object], **metadata: object) -> list[str]:
    out = Console(file=StringIO(), width=200)
    print_passages(out, {"success": True, "results": results, "metadata": metadata})
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()


def a_source(**place: object) -> dict[str, object]:
    return {"filename": "a[1].docx", "page": None, "section": None, **place}


def test_passage_is_printed_with_the_note_on_its_version() -> None:
    gap = "of the version indexed on 2026-05-04 10:00 UTC; the newer one is not indexed yet"
    found = {"content": "Text.", "source": a_source(), "score": 0.3, "metadata": {"gaps": [gap]}}

    assert printed(found)[1:] == [f"    {gap}", "    Text."]


def test_weak_passages_are_printed_with_a_sentence_that_says_so() -> None:
    found = {"content": "Text.", "source": a_source(page=2), "score": 0.3}

    assert printed(found, relevance="weak", relevance_notice="for a model") == [
        "[1] a[1].docx, page 2  score 0.30",
        "    Text.",
        "These passages may not answer your question.",
    ]
    assert len(printed(found, relevance="strong")) == 2
    assert printed() == ["nothing found in this user's documents"]


def test_scores_are_shown_per_passage_if_descending_else_as_a_range() -> None:
    best, worst = ({"content": "Text.", "source": a_source(), "score": each} for each in (0.9, 0.2))

    assert printed(best, worst) == [
        "[1] a[1].docx  score 0.90",
        "    Text.",
        "[2] a[1].docx  score 0.20",
        "    Text.",
    ]
    assert printed(worst, best) == [
        "[1] a[1].docx",
        "    Text.",
        "[2] a[1].docx",
        "    Text.",
        "Scores are 0.20 to 0.90; words, names and dates count, too.",
    ]
