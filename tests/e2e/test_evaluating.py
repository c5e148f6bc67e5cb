"""Somebody measures the answers on documents of their own, from a shell."""

import json
import subprocess
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from stackroom.text.context_lines import without_context
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.gateway.mcp_client import call_tool
from tests.local.running import STACKROOM

FILES = {
    "leave.md": "# Leave\n\nEvery employee has thirty days of paid leave each year.",
    "travel.md": "# Travel\n\nA hotel is booked by the office; a night costs 140 euros at most.",
    "keys.md": "# Keys\n\nWho loses a key of the building tells the porter within a day.",
    "lunch.md": "# Lunch\n\nThe canteen opens at noon and serves soup on Thursdays.",
    "parking.md": "# Parking\n\nBicycles are parked in the yard behind the laboratory.",
}
QUESTIONS: list[dict[str, Any]] = [
    {"question": "How many days of paid leave?", "file": "leave.md", "words": "thirty days"},
    {"question": "What may a night in a hotel cost?", "file": "travel.md", "words": "140 euros"},
    {"question": "I lost a key of the building", "file": "keys.md"},
    {"question": "When does the canteen open?", "file": "lunch.md", "words": "opens at noon"},
    {"question": "Where do I park my bicycle?", "file": "parking.md"},
    {"question": "Who won the world cup of 1998?", "nothing": True},
    {"question": "How do I bake sourdough bread?", "nothing": True},
    {"question": "What is the boiling point of mercury?", "nothing": True},
    {"question": "Which moons has Neptune?", "nothing": True},
    {"question": "Who painted the Mona Lisa?", "nothing": True},
    {"question": "Not read by anybody", "nothing": True, "accepted": False},
]


@pytest.fixture(scope="module", autouse=True)
def documents(alice: Person) -> None:
    alice.settle(alice.put_all({f"staff/{name}": text for name, text in FILES.items()}))


def evaluate(
    instance: Instance, path: Path, *options: str, user: str = "alice"
) -> subprocess.CompletedProcess[str]:
    return of_staff(instance, "evaluate", str(path), *options, user=user)


def of_staff(
    instance: Instance, *command: str, user: str = "alice"
) -> subprocess.CompletedProcess[str]:
    where = ("--state-dir", str(instance.state_dir), "--user", user, "--catalog", "staff")
    return subprocess.run(
        [str(STACKROOM), *command, *where],
        capture_output=True,
        text=True,
        check=False,
    )


def test_figures_beside_plain_retrieve_a_least_score_a_run_and_a_gate(
    instance: Instance, tmp_path: Path
) -> None:
    path, run = tmp_path / "questions.jsonl", tmp_path / "run"
    path.write_text("\n".join(map(json.dumps, QUESTIONS)))

    first = evaluate(instance, path, "--json", "--calibrate", "--out", str(run), "--gate", "mrr=2")

    assert first.returncode == 1
    assert json.loads(first.stderr)["error"]["message"] == (
        "gates missed: mrr is 1, at least 2 was wanted"
    )
    told = json.loads(first.stdout)
    assert (told["answerable"], told["unanswerable"], told["unaccepted"]) == (5, 5, 1)
    figures = told["figures"]
    assert figures["p50"] > 0
    ranks = ("top1", "top3", "top5", "top10", "mrr")
    assert [figures[each] for each in ranks] == [1.0] * 5
    assert (figures["nothing"], figures["pages"]) == (0.0, None)
    assert told["not_compared"] is None
    assert {each["measure"]: each["before"] for each in told["plain"]} == {
        f"top{at}": 1.0 for at in (1, 3, 5, 10)
    }
    assert told["bar"]["unanswerable_nothing"] >= 0.8
    assert told["bar"]["answerable_lost"] == 0.0
    files = str(run / "qrels.txt"), str(run / "run.txt")
    # ir-measures has types for none of its readers
    qrels, ranked = ir_measures.read_trec_qrels(files[0]), ir_measures.read_trec_run(files[1])  # type: ignore[no-untyped-call]
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, ranked)[ir_measures.RR] == 1.0

    least = f"min_score={told['bar']['least_score']}"
    second = evaluate(
        instance,
        path,
        *("--with", least, "--compare", str(run)),
        *("--gate", "unanswerable_weak=80", "--gate", "nothing=0"),
    )

    assert (second.returncode, second.stderr) == (0, "")
    assert "right passage first: 100.0% -> 100.0%: the same for each question" in second.stdout
    assert "5 of 5  plain Retrieve 100.0%, the same" in second.stdout


def test_a_draft_is_measured_once_somebody_has_accepted_it(
    instance: Instance, tmp_path: Path
) -> None:
    path = tmp_path / "draft.jsonl"

    drafted = evaluate(instance, path, "--draft", "--json")
    again = evaluate(instance, path, "--draft")
    unread = evaluate(instance, path)
    path.write_text(path.read_text().replace('"accepted":false', '"accepted":true'))
    measured = evaluate(instance, path, "--gate", "top3=80")

    assert json.loads(drafted.stdout)["questions"] >= 5
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    assert (unread.returncode, "nobody has accepted any" in unread.stderr) == (1, True)
    assert (measured.returncode, measured.stderr) == (0, "")


def test_evaluation_refuses_foreign_catalogs_and_missing_files(
    instance: Instance, tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "Which secrets?", "file": "../../etc/passwd"}')

    hers = evaluate(instance, path)
    foreign = evaluate(instance, path, user="bob")

    assert (hers.returncode, foreign.returncode) == (1, 1)
    assert "line 1: there is no file '../../etc/passwd' in the catalog" in hers.stderr
    assert "'bob' has no catalog 'staff'" in foreign.stderr


def test_what_was_said_of_answers_joins_the_questions_once(
    instance: Instance, alice: Person, tmp_path: Path
) -> None:
    path = tmp_path / "kept.jsonl"
    where = {"catalog_id": alice.catalog("staff").catalog_id}
    for said in (
        {"question": "How many days of paid leave?", "helpful": True, "file": "leave.md", **where},
        {"question": "May I\nkeep {} a <b>dog</b>?", "helpful": False},
    ):
        call_tool(instance.mcp_url, alice.token(), "catalogs___feedback", said)

    first = evaluate(instance, path, "--kept", "--json")
    again = evaluate(instance, path, "--kept")
    bobs = evaluate(instance, tmp_path / "bobs.jsonl", "--kept", user="bob")
    both = evaluate(instance, path, "--kept", "--draft")
    asked = evaluate(instance, path, "--unaccepted", "--gate", "top1=100")

    told = {"path": str(path), "added": 2, "unanswered": 1, "known": 0}
    assert told.items() <= json.loads(first.stdout).items()
    assert "stands in" in again.stdout
    assert [json.loads(line)["accepted"] for line in path.read_text().splitlines()] == [False] * 2
    assert (bobs.returncode, both.returncode) == (1, 2)
    assert (asked.returncode, asked.stderr) == (0, "")


def test_one_sees_what_became_of_a_document_of_ones_own_catalog(instance: Instance) -> None:
    leave = of_staff(instance, "passages", "leave.md", "--json")
    misspelt = of_staff(instance, "passages", "leaves.md")
    foreign = of_staff(instance, "passages", "leave.md", user="bob")

    [passage] = json.loads(leave.stdout)["passages"]
    assert (passage["section"], without_context(passage["text"])) == ("Leave", FILES["leave.md"])
    assert "no document 'leaves.md' in 'staff'; did you mean 'leave.md'?" in misspelt.stderr
    assert "'bob' has no catalog 'staff'" in foreign.stderr
    assert (misspelt.returncode, foreign.returncode) == (1, 1)
