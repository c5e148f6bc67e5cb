"""docs/pgvector.md: its lines are run as they stand."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackroom_local.simulator.server import Configuration, Simulator
from tests.postgresql import postgresql

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pgvector.md").read_text("utf-8")


def block(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of a shell beside a PostgreSQL, and beside a model as simulated."""
    configuration = Configuration(data_dir=tmp_path, s3_endpoint="http://127.0.0.1:1")
    with postgresql() as server, Simulator(configuration) as simulator:
        yield {
            **os.environ,
            "PGHOST": server.socket,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": simulator.endpoint,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


def test_a_folder_is_loaded_and_found_by_its_owner_alone(environment: dict[str, str]) -> None:
    def printed(*command: str) -> str:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    loaded = printed("bash", "-euo", "pipefail", "-c", block("bash"))
    found = printed(sys.executable, "-c", block("python"))

    assert re.match(r"loaded (\d+) of \1 files as \d+ passages in ", loaded)
    assert found == "alice 5\nbob 0\n"
    assert "It prints `alice 5` and `bob 0`." in PAGE
