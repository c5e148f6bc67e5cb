"""docs/clients.md: each client's lines are run as they stand, and find what was dropped."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from stackroom_local.state import Instance
from tests.clients.clients import CLIENTS, INSPECTOR, ROOT, Client
from tests.clients.environments import installed
from tests.clients.page import BEFORE, Block, blocks
from tests.local.running import local_mode

pytestmark = pytest.mark.processes

BLOCKS = {block.heading: block for block in blocks()}
ANSWER = "Norway 92 euros"  # examples/alice/handbook/employee-handbook.pdf
MARK = "----- the environment -----"
TELL = f"echo '{MARK}'; .venv/bin/python -c 'import json, os; print(json.dumps(dict(os.environ)))'"
# What a client says of a server that it can make do with.
COMPLAINT = re.compile(r"Warning\b|WARN\b|Traceback|\bERROR\b")


@pytest.fixture(scope="module")
def environments() -> Iterator[Mapping[str, "Future[Path]"]]:
    """Folders of what the clients need, by name; they are filled while the local mode starts."""
    names = sorted({client.environment for client in CLIENTS if client.environment})
    with ThreadPoolExecutor(2) as installers:
        yield {name: installers.submit(installed, name) for name in names}


@pytest.fixture(scope="module")
def instance(
    environments: Mapping[str, "Future[Path]"], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Instance]:
    """A local mode of its own, as somebody has who pastes from the page."""
    with local_mode(tmp_path_factory.mktemp("clients") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the lines are typed; what is written there, or at home, is nobody else's."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in (".venv", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "home").mkdir()
    return folder


@pytest.fixture(scope="module")
def shell(instance: Instance, checkout: Path) -> dict[str, str]:
    """The environment of a shell in which the page's first lines have been typed."""
    environment = {
        **os.environ,
        "HOME": str(checkout / "home"),
        "STACKROOM_STATE_DIR": str(instance.state_dir),
    }
    first = Block(BEFORE, "bash", f"{BLOCKS[BEFORE].text}\n{TELL}")
    printed = run(first, environment, checkout).stdout
    return dict(json.loads(printed.split(MARK)[1]))


def run(
    block: Block, environment: Mapping[str, str], cwd: Path
) -> "subprocess.CompletedProcess[str]":
    program = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": ["python", "-c"]}
    completed = subprocess.run(
        [*program[block.language], block.text],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    return completed


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_finds_what_was_dropped(
    client: Client,
    shell: dict[str, str],
    checkout: Path,
    environments: Mapping[str, "Future[Path]"],
) -> None:
    folder = environments[client.environment].result() if client.environment else ROOT / ".venv"
    if client.environment == INSPECTOR.name and not (checkout / "node_modules").exists():
        (checkout / "node_modules").symlink_to(folder / "node_modules")
    environment = {
        **shell,
        "PATH": f"{folder / 'bin'}{os.pathsep}{shell['PATH']}",
        "npm_config_offline": "true",  # what is not pinned isn't fetched
    }

    completed = run(BLOCKS[client.name], environment, checkout)

    assert ANSWER in completed.stdout
    assert not COMPLAINT.search(completed.stderr), completed.stderr
