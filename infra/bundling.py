"""
The zip of a function: our code, and beside it the packages of requirements.lock for arm64.

No docker: uv takes the wheels that Lambda needs, and refuses to build from source. Packages keep
their pins and hashes. What no function uses is left out (most of botocore is the descriptions of
services nobody calls), since a smaller zip starts faster.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_

ROOT = Path(__file__).parents[1]
PYTHON_VERSION = "3.13"
_UV = Path(sys.executable).with_name("uv")

# What our clients need of botocore/data: the services called, and what resolves their endpoints.
SERVICES = {
    "bedrock-agent",
    "bedrock-agent-runtime",
    "bedrock-runtime",
    "cloudwatch",
    "dynamodb",
    "s3",
    "s3vectors",
    "sso-oidc",  # imported by botocore's credential chain
    "stepfunctions",
    "sts",
}
_NEVER_SHIPPED = ("bin", "*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED")


@dataclass(frozen=True)
class Group:
    """Functions that share a zip, because they import the same packages."""

    name: str
    extras: tuple[str, ...] = ()


CORE = Group("core")
INSPECT = Group("inspect", extras=("extraction",))
IDENTITY = Group("identity", extras=("identity",))


@jsii.implements(cdk.ILocalBundling)
class _Bundler:
    def __init__(self, group: Group, *, with_dependencies: bool) -> None:
        self._group = group
        self._with_dependencies = with_dependencies

    # Name and arguments are those of the jsii interface.
    def try_bundle(self, output_dir: str, _options: Any = None, **_: Any) -> bool:
        target = Path(output_dir)
        copy_own_code(target)
        if self._with_dependencies:
            _install(self._group, target)
            prune(target)
            _compile(target)
        return True


def code_of(group: Group, *, with_dependencies: bool) -> lambda_.Code:
    """The code asset of a group; without dependencies it needs no network and costs nothing."""
    return lambda_.Code.from_asset(
        str(ROOT / "functions"),
        # Hashed by the output: the same sources with other packages are another asset.
        asset_hash_type=cdk.AssetHashType.OUTPUT,
        bundling=cdk.BundlingOptions(
            image=cdk.DockerImage.from_registry("no-docker-needed"),
            local=_Bundler(group, with_dependencies=with_dependencies),
            # A different command gives each group a staging directory of its own.
            command=[group.name, str(with_dependencies)],
        ),
    )


def copy_own_code(target: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ROOT / "functions", target / "functions", ignore=unwanted)
    shutil.copytree(ROOT / "src" / "stackroom", target / "stackroom", ignore=unwanted)


def _install(group: Group, target: Path) -> None:
    for_lambda = ["--python-platform", "aarch64-manylinux2014", "--python-version", PYTHON_VERSION]
    extras = [option for extra in group.extras for option in ("--extra", extra)]
    pinned = target.parent / f"{target.name}.txt"
    compile_ = ["compile", "pyproject.toml", *extras, "--constraint", "requirements.lock"]
    install = ["install", "--target", str(target), "--only-binary", ":all:", "--require-hashes"]
    _uv(*compile_, "--generate-hashes", *for_lambda, "-o", str(pinned))
    try:
        _uv(*install, *for_lambda, "-r", str(pinned))
    finally:
        pinned.unlink()


def _uv(*arguments: str) -> None:
    # uv would otherwise fetch a Python 3.13 only to know its version.
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    command = [str(_UV), "pip", *arguments, "--python", sys.executable, "--quiet"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)  # noqa: S603 - our own words


def prune(target: Path) -> None:
    for pattern in _NEVER_SHIPPED:
        for path in target.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for service in (target / "botocore" / "data").iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)


def _compile(target: Path) -> None:
    """Byte code for the runtime's Python where one is here: a cold start halves with it."""
    python = _interpreter()
    if python is None:
        return
    # Unchecked, because file times in a zip say nothing; a fixed hash seed keeps bytes the same.
    compile_all = [python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    paths = ["-s", str(target), "-p", "/var/task", str(target)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run([*compile_all, *paths], env=environment, check=True)  # noqa: S603 - our own words


@cache
def _interpreter() -> str | None:
    command = [str(_UV), "python", "find", "--no-project", PYTHON_VERSION]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    found = subprocess.run(  # noqa: S603 - our own words
        command, env=environment, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else None
