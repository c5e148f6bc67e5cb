"""What the README claims is so."""

import re
import sys
from pathlib import Path

import pytest

from docs.cli import CLI, cli
from docs.fidelity import FIDELITY, fidelity
from docs.generate import README, ROOT, configuration, exit_codes, section
from stackroom_local.cli import app
from stackroom_local.cli.answers import ANSWERS
from stackroom_local.cli.verbs import FAILS_WHEN, VERBS

TEXT = README.read_text("utf-8")
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_table_of_variables_is_that_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    assert section(TEXT, "configuration") == configuration(), "run: make docs"


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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_that_is_named_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))

    named = set(re.findall(r"(?:`|\$ )make ([a-z][a-z-]*)", document.read_text("utf-8")))

    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_verb_of_the_command_line_that_is_named_exists(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = set(re.findall(r"(?:`|bin/)stackroom ([a-z]+)", document.read_text("utf-8")))

    for verb in named:
        monkeypatch.setattr(sys, "argv", ["stackroom", verb, "--help"])
        with pytest.raises(SystemExit) as ended:
            app()
        assert ended.value.code == 0, verb


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8"))

    broken = [link for link in links if not (document.parent / link).exists()]

    assert not broken
