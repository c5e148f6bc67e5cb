"""Every verb that needs the local mode says so when there is none."""

import errno
import json
import os
import re
import signal
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from stackroom_cli import lifecycle
from stackroom_local.servers import Ports
from stackroom_local.state import StateDirectory
from stackroom_local.supervisor import LocalMode, Stopped, signals_raise
from tests.local.running import CommandResult, within

ROOT = Path(__file__).parents[2]

Stackroom = Callable[..., CommandResult]


@pytest.fixture
def stackroom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Stackroom:
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(tmp_path))
    return partial(within, monkeypatch, capsys)


def test_command_without_a_server_says_how_to_start_one(
    tmp_path: Path, stackroom: Stackroom
) -> None:
    answer = stackroom("drop", ".", "--user", "ada", "--catalog", "home")

    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"stackroom: the local mode is not running in {tmp_path};")


@pytest.mark.parametrize(
    "cap",
    [
        ("--documents", "-1"),
        (),
    ],
    ids=" ".join,
)
def test_invalid_cap_is_refused(stackroom: Stackroom, cap: tuple[str, ...]) -> None:
    answer = stackroom("caps", "set", *cap)

    assert answer.returncode == 2
    assert "Invalid value" in answer.stderr


def test_command_errors_are_reported_as_json_on_request(
    stackroom: Stackroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STACKROOM_CONFIG", str(tmp_path / "config"))

    failed = stackroom("--deployment", "nowhere", "status", "--json")
    wrong = stackroom("--deployment", "nowhere", "status", "--nonsense", "--json")

    assert (failed.returncode, wrong.returncode) == (1, 2)
    assert (failed.stdout, wrong.stdout) == ("", "")
    assert json.loads(failed.stderr)["error"]["type"] == "UnknownDeployment"
    assert "--nonsense" in json.loads(wrong.stderr)["error"]["message"]


@pytest.mark.parametrize("whose", [(), ("--operator", "--user", "ada")], ids=" ".join)
def test_env_requires_a_user_or_the_operator_option(
    stackroom: Stackroom, whose: tuple[str, ...]
) -> None:
    answer = stackroom("env", *whose)

    assert (answer.returncode, answer.stdout) == (2, "")
    assert "--user alice" in answer.stderr
    assert "--operator" in answer.stderr


@pytest.mark.parametrize("is_terminal", [True, False])
def test_whoami_without_a_token_says_how_to_pipe_one(
    stackroom: Stackroom, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    stdin = TextIOWrapper(BytesIO(b"typed later" if is_terminal else b"\n"))
    monkeypatch.setattr(stdin, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdin", stdin)

    answer = stackroom("whoami")

    assert answer.returncode == 2
    assert "stackroom token --user NAME | stackroom whoami" in " ".join(answer.stderr.split())


def test_an_empty_path_is_refused_and_never_taken_for_the_present_folder(
    stackroom: Stackroom,
) -> None:
    answer = stackroom("drop", "", "--user", "ada", "--catalog", "home")

    assert answer.returncode == 2
    assert "a path is empty" in answer.stderr


def test_a_model_that_can_not_be_asked_is_refused_before_anything_starts(
    stackroom: Stackroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STACKROOM_OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    monkeypatch.setenv("STACKROOM_OPENAI_API_KEY", "sk-very-secret")

    answer = stackroom("up")

    assert (answer.returncode, answer.stdout) == (2, "")
    assert "STACKROOM_OPENAI_MODEL" in answer.stderr
    assert "sk-very-secret" not in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_argument_that_is_not_utf_8_is_named_in_one_line(stackroom: Stackroom) -> None:
    cafe = os.fsdecode(b"caf\xe9")  # as Python has what a shell in Latin-1 passes

    answer = stackroom("ask", cafe, "-u", "zed")

    assert (answer.returncode, answer.stdout) == (2, "")
    assert re.fullmatch(r"stackroom: the argument '.*caf\\xe9' must be UTF-8.*\n", answer.stderr)


@pytest.mark.processes
def test_terminal_that_is_not_utf_8_gets_escapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stackroom: Stackroom
) -> None:
    (tmp_path / "café.txt").write_text("One text.")
    terminal = TextIOWrapper(BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", terminal)

    assert stackroom("passages", str(tmp_path / "café.txt")).returncode == 0

    terminal.flush()
    assert terminal.buffer.getvalue().startswith(b"caf\\xe9.txt: 1 passage")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_stops_servers_although_python_drops_the_exception(tmp_path: Path) -> None:
    mode = LocalMode(
        state=StateDirectory(tmp_path), ports=Ports(aws=1), speed=1.0, announce=lambda _: None
    )

    class Interrupted:
        def __del__(self) -> None:  # whatever is raised here is dropped, as in a weak reference
            signal.raise_signal(signal.SIGINT)

    with signals_raise(mode.signals):
        Interrupted()
        with pytest.raises(Stopped):
            mode.watch()


def test_unwritable_place_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_given: object, **_named: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/checkout/.cache/templates")

    monkeypatch.setattr(lifecycle, "up", fails)

    answer = within(monkeypatch, capsys, "up")

    [told] = answer.stderr.splitlines()
    assert answer.returncode == 1
    assert told.startswith("stackroom: /checkout/.cache/templates: Read-only")


def test_model_without_its_packages_is_refused_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)

    answer = within(monkeypatch, capsys, "up", "--model", "multilingual")

    assert answer.returncode == 2
    told = " ".join(answer.stderr.split())
    assert "the package onnx is not installed" in told
    for project in (ROOT, ROOT / "simulator"):
        stated = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
        extra = stated["optional-dependencies"]["multilingual"]
        assert f"pip install {' '.join(extra)}" in told
