"""`bedrock-kb-simulator serve`: errors of its options, and its built-in S3."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from bedrock_kb_simulator import __main__ as command
from bedrock_kb_simulator.server import Configuration, Simulator


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "70000"], "not a port"),
        (["--speed", "0"], "not a speed"),
        (["--s3-endpoint", "localhost:4566"], "not a URL"),
        (["--signed"], "--signed needs --s3-endpoint"),
        (["--model-prefix", "HALF"], "set both HALF_OPENAI_BASE_URL and HALF_OPENAI_MODEL"),
    ],
)
def test_invalid_option_is_refused_with_the_reason(
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HALF_OPENAI_MODEL", "small")
    monkeypatch.setattr("sys.argv", ["bedrock-kb-simulator", "serve", *options])
    # Not what a test may change: pytest keeps its own.
    monkeypatch.setattr("signal.signal", lambda *_: None)

    with pytest.raises(SystemExit) as ended:
        command.main()

    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a client of a simulator's built-in S3."""
    with Simulator(Configuration(data_dir=tmp_path_factory.mktemp("alone"))) as simulator:
        session = boto3.Session("any", "key", region_name="us-east-1")
        made = session.client("s3", endpoint_url=simulator.endpoint)
        made.create_bucket(Bucket="health")  # whose path is another thing to who signs for no S3
        yield made


@pytest.mark.processes
def test_builtin_s3_keeps_objects_of_any_name_and_size(s3: Any, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(9_000_000))
    key = "a b/résumé (1)+%.txt"
    where = {"Bucket": "health", "Key": key}

    s3.put_object(**where, Body=b"Ravens can count.", Metadata={"by": "ada"})
    s3.upload_file(str(large), "health", "large")
    link = s3.generate_presigned_url("get_object", Params=where)

    head = s3.head_object(**where)
    assert (head["ContentLength"], head["Metadata"]) == (17, {"by": "ada"})
    assert s3.get_object(**where)["Body"].read() == b"Ravens can count."
    assert s3.head_object(Bucket="health", Key="large")["ContentLength"] == 9_000_000
    with urllib.request.urlopen(link) as followed:
        assert followed.read() == b"Ravens can count."
    assert {each["Key"] for each in s3.list_objects_v2(Bucket="health")["Contents"]} == {
        key,
        "large",
    }
