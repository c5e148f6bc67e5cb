"""Which packages a function's zip takes: what the project states, by the pins that it ships."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stackroom_constructs.bundling import source_of
from stackroom_constructs.packages import install, prune, requirements

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_a_zip_takes_what_every_function_imports_and_the_extras_that_are_named() -> None:
    stated = PROJECT["project"]["optional-dependencies"]

    assert sorted(requirements(())) == sorted(stated["functions"])
    assert sorted(requirements(("agents",))) == sorted(stated["functions"] + stated["agents"])
    # With extras of its own.
    assert "pyjwt[crypto]>=2.10" in requirements(("identity",))


@pytest.mark.parametrize("package", ["stackroom", "stackroom_agents", "stackroom_constructs"])
def test_the_types_of_what_anyone_imports_are_told(package: str) -> None:
    assert (source_of(package) / "py.typed").is_file()


def test_packages_that_contradict_the_project_are_refused_in_the_words_of_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    target = tmp_path / "zip"
    target.mkdir()

    with pytest.raises(RuntimeError, match="you require pydantic<2"):
        install(target, packages=["pydantic<2"], machine="arm64")

    assert list(tmp_path.iterdir()) == [target]


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """As uv leaves it: packages, their records, and every service that botocore knows."""
    for name in (
        "bin/jp.py",
        "boto3-1.0.dist-info/RECORD",
        "boto3-1.0.dist-info/METADATA",
        "botocore/data/s3/2006-03-01/service-2.json.gz",
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "botocore/data/endpoints.json",
        "grpc/__init__.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    return tmp_path


def test_services_that_nobody_calls_and_records_of_the_installation_are_left_out(
    unpacked: Path,
) -> None:
    prune(unpacked, None)
    every = {path.name for path in (unpacked / "botocore" / "data").iterdir()}
    prune(unpacked, {"s3"})

    # Where it is not known what the code calls, every service is kept.
    assert every == {"s3", "ec2", "endpoints.json"}
    kept = {path.name for path in (unpacked / "botocore" / "data").iterdir()}
    assert kept == {"s3", "endpoints.json"}
    assert not (unpacked / "bin").exists()
    assert [path.name for path in (unpacked / "boto3-1.0.dist-info").iterdir()] == ["METADATA"]


def test_what_opensearch_py_never_imports_is_left_out_and_nobody_elses(unpacked: Path) -> None:
    prune(unpacked, {"s3"})
    of_others = (unpacked / "grpc").is_dir()
    (unpacked / "opensearchpy").mkdir()
    prune(unpacked, {"s3"})

    assert of_others
    assert not (unpacked / "grpc").exists()
    assert (unpacked / "opensearchpy").is_dir()


def test_opensearch_py_speaks_http_without_grpc() -> None:
    told = (
        "import sys; sys.modules['grpc'] = None; import opensearchpy; print(opensearchpy.VERSION)"
    )

    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
