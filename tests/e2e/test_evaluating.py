"""Somebody measures the answers on documents of their own, from a shell."""

import json
import subprocess
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person
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


def test_evaluation_reports_figures_and_fails_at_a_missed_gate(
    instance: Instance, tmp_path: Path
) -> None:
    path, run = tmp_path / "questions.jsonl", tmp_path / "run"
    path.write_text("\n".join(map(json.dumps, QUESTIONS)))

    first = evaluate(instance, path, "--json", "--calibrate", "--out", str(run), "--gate", "mrr=2")

    assert first.returncode == 1
    assert json.loads(first.stderr)["error"]["message"] == (
        "gates missed: mrr is 1, required: at least 2"
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
