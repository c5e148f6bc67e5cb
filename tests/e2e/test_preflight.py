"""`make preflight`, as whoever is about to deploy a second project into the local cloud."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
VERSION = "/cdk-bootstrap/hnb659fds/version"


def preflight(environment: dict[str, str], project: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "infra/preflight.py", "-c", f"project={project}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def told(run: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """How each check ended, but for Service Quotas, which the local cloud hasn't."""
    rows = [line.split()[:2] for line in run.stdout.splitlines() if line[0] != " "]
    return {name: mark for mark, name in rows if name != "Service"}


def test_the_local_cloud_is_ready_for_a_second_project(shell: dict[str, str]) -> None:
    done = preflight(shell, "second")

    assert done.returncode == 0, done.stdout + done.stderr
    # Whether a gateway has one of the names nobody there can tell.
    assert {name for name, mark in told(done).items() if mark != "ok"} == {"names"}, done.stdout
    assert "none is seen to be taken, but ListGateways is refused" in done.stdout


def test_whatever_is_amiss_there_stops_it(shell: dict[str, str], aws: Callable[[str], Any]) -> None:
    ssm, s3, bucket = aws("ssm"), aws("s3"), "second-kb-docs-000000000000-us-east-1"
    version = ssm.get_parameter(Name=VERSION)["Parameter"]["Value"]
    ssm.put_parameter(Name=VERSION, Value="5", Type="String", Overwrite=True)
    s3.create_bucket(Bucket=bucket)
    try:
        done = preflight({**shell, "AWS_ENDPOINT_URL_S3VECTORS": "http://127.0.0.1:9"}, "second")
    finally:
        s3.delete_bucket(Bucket=bucket)
        ssm.put_parameter(Name=VERSION, Value=version, Type="String", Overwrite=True)

    assert done.returncode == 1
    failed = {name for name, mark in told(done).items() if mark == "bad"}
    assert failed == {"region", "bootstrap", "names"}, done.stdout
    assert "us-east-1 has no S3 Vectors" in done.stdout
    assert "bootstrap aws://000000000000/us-east-1" in done.stdout
    assert f"S3::Bucket {bucket}\n" in done.stdout
