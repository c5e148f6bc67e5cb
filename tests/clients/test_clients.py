"""docs/clients.md: each client's lines are run as they stand, and find what was dropped."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from docs.clients import BEFORE, Block, blocks
from stackroom_local.state import Instance
from tests.clients.clients import CLIENTS, NPM, REQUIREMENTS, ROOT, Client
from tests.clients.environments import installed
from tests.e2e.people import eventually
from tests.gateway.browser import a_browser, query

pytestmark = pytest.mark.processes

ANSWER = "Norway 92 euros"  # examples/alice/handbook/employee-handbook.pdf
MARK = "----- the environment -----"
TELL = f"echo '{MARK}'; .venv/bin/python -c 'import json, os; print(json.dumps(dict(os.environ)))'"
# What a client says of a server that it can make do with.
COMPLAINT = re.compile(r"Warning\b|WARN\b|Traceback|\bERROR\b")


LINK = re.compile(r"http://\S+/authorize\?\S+")


def block_of(heading: str, number: int = 0) -> Block:
    return [block for block in blocks() if block.heading == heading][number]


def test_every_client_has_its_blocks_and_no_block_is_nobodys() -> None:
    wanted = [BEFORE]
    for client in CLIENTS:
        wanted += [client.name] * (2 if client.signs_in else 1)

    assert [block.heading for block in blocks()] == wanted


def test_sign_in_page_names_the_inspector_version_that_tests_run() -> None:
    page = (ROOT / "docs" / "sign-in.md").read_text("utf-8")
    [inspector] = [each for each in CLIENTS if each.name == "MCP Inspector"]

    assert set(re.findall(rf"{inspector.package}@([\d.]+)", page)) == {inspector.version}


def test_no_lock_file_names_a_package_address() -> None:
    locks = ("tests/*/npm/package-lock.json", "infra/*/package-lock.json")
    for lock in (*REQUIREMENTS.glob("*.lock"), *(each for of in locks for each in ROOT.glob(of))):
        text = lock.read_text("utf-8")

        assert "--hash=sha256:" in text or '"integrity": "sha512-' in text, lock
        assert not re.search(r'"resolved"|index-url|@ https?:', text), lock


@pytest.fixture(scope="module")
def environments() -> Iterator[Mapping[str, "Future[Path]"]]:
    """Folders of what the clients need, by name; they are filled while the local mode starts."""
    names = sorted({client.environment for client in CLIENTS if client.environment})
    with ThreadPoolExecutor(2) as installers:
        yield {name: installers.submit(installed, name) for name in names}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A folder for the commands, so that nothing is written to the checkout or the home directory.
    """
    folder = tmp_path_factory.mktemp("checkout")
    for name in (".venv", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "home").mkdir()
    return folder


@pytest.fixture(scope="module")
def shell(instance: Instance, checkout: Path) -> dict[str, str]:
    """The environment of a shell in which the page's first lines have been typed."""
    nobodys = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {
        **nobodys,
        "HOME": str(checkout / "home"),
        "STACKROOM_STATE_DIR": str(instance.state_dir),
    }
    first = Block(BEFORE, "bash", f"{block_of(BEFORE).text}\n{TELL}", "")
    printed = run(first, environment, checkout).stdout
    return dict(json.loads(printed.split(MARK)[1]))


def command(block: Block) -> list[str]:
    programs = {
        "bash": ["bash", "-euo", "pipefail", "-c"],
        "js": ["node", "--input-type=module", "-e"],
        "python": ["python", "-c"],
    }
    return [*programs[block.language], block.text]


def run(
    block: Block, environment: Mapping[str, str], cwd: Path
) -> "subprocess.CompletedProcess[str]":
    completed = subprocess.run(
        command(block),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    return completed


def run_beside_a_browser(
    block: Block, environment: Mapping[str, str], cwd: Path, *, user: str
) -> tuple[str, list[str]]:
    """
    Return the output at a terminal, and the sign-in links; a browser opens each, and the user fills
    in the page.
    """
    terminal, at_terminal = pty.openpty()
    printed, links = list[str](), list[str]()
    with subprocess.Popen(
        command(block),
        cwd=cwd,
        env=environment,
        stdin=at_terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None, "a pipe, as asked for"
        for line in process.stdout:
            printed.append(line)
            for link in LINK.findall(line):
                links.append(link)
                with a_browser() as browser:
                    answer = browser.submit(browser.open(link), user=user, groups="")
                    _follow(browser.http, answer.headers["location"])
    os.close(terminal)
    os.close(at_terminal)
    assert process.returncode == 0, "".join(printed)[-3000:]
    return "".join(printed), links


def _follow(http: httpx2.Client, callback: str) -> None:
    """Some clients print the link before they listen for its answer, and people take longer."""

    def answered() -> bool:
        try:
            return http.get(callback).raise_for_status().is_success
        except httpx2.ConnectError:
            return False

    eventually(answered, "the client listens for the answer", seconds=60)


@pytest.fixture
def at_hand(
    client: Client,
    shell: dict[str, str],
    checkout: Path,
    environments: Mapping[str, "Future[Path]"],
) -> dict[str, str]:
    """The environment of the page's shell with the client installed in it."""
    folder = environments[client.environment].result() if client.environment else ROOT / ".venv"
    if client.environment == NPM.name and not (checkout / "node_modules").exists():
        (checkout / "node_modules").symlink_to(folder / "node_modules")
    return {
        **shell,
        "PATH": f"{folder / 'bin'}{os.pathsep}{shell['PATH']}",
        "npm_config_offline": "true",  # what is not pinned isn't fetched
        "npm_config_update_notifier": "false",
    }


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.label)
def test_client_search_finds_a_dropped_file(
    client: Client, at_hand: dict[str, str], checkout: Path
) -> None:
    completed = run(block_of(client.name), at_hand, checkout)

    assert ANSWER in completed.stdout
    assert completed.stdout.startswith(client.protocol)
    assert not COMPLAINT.search(completed.stderr), completed.stderr


@pytest.mark.parametrize(
    "client", [each for each in CLIENTS if each.signs_in], ids=lambda client: client.label
)
def test_a_client_signs_in_for_the_gateway_and_calls_a_tool(
    client: Client, at_hand: dict[str, str], checkout: Path
) -> None:
    own = {name: value for name, value in at_hand.items() if name != "STACKROOM_TOKEN"}
    # Of the Inspector, for its own port may be somebody's, and so is this machine's keychain.
    own |= {
        "MCP_OAUTH_CALLBACK_URL": "http://127.0.0.1:0/oauth/callback",
        "MCP_INSPECTOR_SECRET_STORE": "memory",
    }

    printed, links = run_beside_a_browser(block_of(client.name, 1), own, checkout, user="alice")

    assert ANSWER in printed
    [link] = links
    # So its token had an audience [tests/gateway/test_authorization.py].
    assert query(link)["resource"].rstrip("/") == at_hand["STACKROOM_MCP_URL"]
