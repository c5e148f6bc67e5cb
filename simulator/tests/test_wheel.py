"""The wheel by itself, without Stackroom: it serves boto3 and libraries built on it."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.clients.environments import installed

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the wheel and our dependencies, without Stackroom."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = [find_uv_bin(), "--quiet", "--offline"]
    build = ["build", "--wheel", "--no-build-isolation", "--python", sys.executable]
    subprocess.run([*uv, *build, "--out-dir", str(folder)], cwd=ROOT, check=True)
    [wheel] = folder.glob("bedrock_kb_simulator-*.whl")
    made = folder / "environment"
    subprocess.run([*uv, "venv", "--python", sys.executable, str(made)], check=True)
    install = ["pip", "install", "--no-deps", "--python", str(made), str(wheel)]
    subprocess.run([*uv, *install], check=True)
    return made


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    """Return variables without AWS credentials, and with our dependencies."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, "PYTHONPATH": sysconfig.get_path("purelib")}


@pytest.fixture(scope="module")
def exported(environment: Path, variables: dict[str, str]) -> Iterator[dict[str, str]]:
    """Serve, and yield the variables that the command prints as exports."""
    command = [str(environment / "bin" / "bedrock-kb-simulator"), "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--speed", "20"], env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None, "a pipe, as asked for"
        assert process.stdout.readline().startswith("Bedrock Knowledge Bases and S3 Vectors answer")
        lines = [process.stdout.readline().split() for _ in range(4)]
        yield dict(word.split("=", 1) for export, word in lines if export == "export")
        process.terminate()
        assert process.wait() == 0


def printed(python: Path, example: str, *arguments: str, env: dict[str, str]) -> str:
    run = subprocess.run(
        [str(python), str(EXAMPLES / example), *arguments],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def with_boto3(environment: Path, variables: dict[str, str], exported: dict[str, str]) -> str:
    python = environment / "bin" / "python"
    return printed(python, "with_boto3.py", env={**variables, **exported})


@pytest.fixture(scope="module")
def knowledge_base(with_boto3: str) -> str:
    [found] = re.findall(r"^knowledge base (\w{10})$", with_boto3, re.MULTILINE)
    return str(found)


def test_boto3_example_finds_its_document(with_boto3: str) -> None:
    assert with_boto3.startswith("COMPLETE 1\n")
    assert "s3://documents/parking.txt Parking is free on Sundays." in with_boto3


def test_langchain_example_finds_the_document(
    exported: dict[str, str], knowledge_base: str
) -> None:
    python = installed("langchain") / "bin" / "python"
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **exported}

    found = printed(python, "with_langchain.py", knowledge_base, env=env)

    assert found == "s3://documents/parking.txt Parking is free on Sundays.\n"


def test_strands_example_answers_from_the_document(
    environment: Path, variables: dict[str, str], exported: dict[str, str], knowledge_base: str
) -> None:
    python = environment / "bin" / "python"

    answer = printed(python, "with_strands.py", knowledge_base, env={**variables, **exported})

    assert "Parking is free on Sundays." in answer
