"""Tests of questions drafted from documents."""

from pathlib import Path

from stackroom.text.extraction import Heading, Page
from stackroom_evaluation.drafting import draft_questions
from stackroom_evaluation.judging import Shown, is_right
from stackroom_evaluation.question_file import read

GUIDE = """Keys
A porter is a person who keeps the keys of the building. To borrow a key, ask the porter at the
door before noon. If you lose a key, the lock is changed at your cost. Bicycles are parked in the
yard behind the laboratory. Keys of guests may be kept for 14 days, not longer. Herr Weiß darf alle
Türen im Keller öffnen. The whole cellar smells of apples in autumn. Too short.
1 2 3 4 5 6 7 8 9 10 11."""
PAGES = {
    "guide.md": (Page(None, GUIDE, (Heading(0, "Keys"),)),),
    "plan.pdf": (
        Page(1, "Contents .......... 1\nKeys .......... 2\nLunch .......... 3\nEnd .......... 4"),
        Page(2, "The canteen opens at noon and serves soup on Thursdays."),
    ),
    "案内.txt": (Page(None, "自転車は研究所の裏の中庭に停めてください。短い。"),),
    "\x1b[2Jforged\u202e.txt": (Page(None, "Nobody may write such a name into a file."),),
}


def test_draft_asks_about_every_document_and_about_other_topics() -> None:
    found = draft_questions(PAGES, count=30)

    asked = [each.question for each in found if each.file == "guide.md"]
    assert "Keys: cellar smells apples autumn" in asked
    assert [(each.question, each.page) for each in found if each.file == "plan.pdf"] == [
        ("canteen opens serves thursdays", 2)
    ]
    assert {each.file for each in found} == {"guide.md", "plan.pdf", "案内.txt", None}
    assert [each.nothing for each in found] == [*[False] * 9, *[True] * 3]
    assert not any(each.accepted for each in found)
    for each in found[:9]:
        whole = Shown(
            text="".join(page.text for page in PAGES[str(each.file)]), file=str(each.file)
        )
        assert is_right(whole, each.spots)


def test_draft_is_repeatable_and_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    found = draft_questions(PAGES, count=3)
    path.write_text("\n".join(each.line for each in found))

    assert draft_questions(PAGES, count=3) == found == list(read(path).values())
    assert len(found) == 4


def test_model_rewrites_drafted_questions_and_invalid_ones_are_kept() -> None:
    texts = iter(["Who has the keys?\n", "", "\ud800"])
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return next(texts)

    plain, asked = draft_questions(PAGES, count=3), draft_questions(PAGES, count=3, model=model)

    assert asked[0].question == "Who has the keys?"
    assert asked[0].spots == plain[0].spots
    assert asked[1:] == plain[1:]
    assert all(str(each.words) in prompt for each, prompt in zip(plain, prompts, strict=False))
