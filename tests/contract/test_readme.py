"""What the README claims is so."""

import re
import sys

import pytest

from docs.cli import CLI, cli
from docs.fidelity import FIDELITY, fidelity
from docs.generate import README, ROOT, configuration, exit_codes, section
from docs.state_machine import state_machine
from stackroom_local.cli import app
from stackroom_local.cli.answers import ANSWERS
from stackroom_local.cli.verbs import FAILS_WHEN, VERBS

TEXT = README.read_text("utf-8")
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_table_of_variables_is_that_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    assert section(TEXT, "configuration") == configuration(), "run: make docs"


def test_the_picture_of_the_state_machine_is_that_of_its_definition() -> None:
    assert section(TEXT, "state-machine") == state_machine(), "run: make docs"


def test_the_table_of_exit_codes_has_every_verb() -> None:
    assert section(TEXT, "exit-codes") == exit_codes(), "run: make docs"
    assert list(FAILS_WHEN) == list(VERBS)


def test_the_page_of_the_command_line_is_that_of_its_verbs_and_answers() -> None:
    assert CLI.read_text("utf-8") == cli(), "run: make docs"
    assert {each.partition(" --")[0] for each in ANSWERS} == set(VERBS)


def test_every_verb_says_what_it_needs_and_takes_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed, listed in VERBS.items():
        monkeypatch.setattr(sys, "argv", ["stackroom", *typed.split(), "--help"])
        with pytest.raises(SystemExit):
            app()

        told = " ".join(capsys.readouterr().out.split())
        assert listed.need in told, typed
        assert "--json" in told, typed


def test_the_page_of_rules_is_that_of_the_simulator() -> None:
    assert FIDELITY.read_text("utf-8") == fidelity(), "run: make docs"


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))

    named = named_in_documents(r"(?:`|\$ )make ([a-z][a-z-]*)")

    assert named
    assert {name: where for name, where in named.items() if name not in targets} == {}


def test_every_verb_of_the_command_line_that_is_named_exists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = named_in_documents(r"(?:`|bin/)stackroom ([a-z]+)")

    assert named
    for verb, where in named.items():
        monkeypatch.setattr(sys, "argv", ["stackroom", verb, "--help"])
        with pytest.raises(SystemExit) as ended:
            app()
        assert ended.value.code == 0, (verb, where)


def test_every_link_to_a_file_leads_somewhere() -> None:
    links = [
        (document, link)
        for document in DOCUMENTS
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    ]

    assert links
    assert [each for each in links if not (each[0].parent / each[1]).exists()] == []


def named_in_documents(pattern: str) -> dict[str, str]:
    """What the pattern finds, with a document that has it."""
    return {
        name: document.name
        for document in DOCUMENTS
        for name in re.findall(pattern, document.read_text("utf-8"))
    }
