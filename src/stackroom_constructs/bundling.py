"""The zip of a function: folders of our code, and beside them the packages that they import."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from uv import find_uv_bin

# The packages beside our code in a function's zip, without docker: uv takes the wheels that
# Lambda needs, and refuses to build from source.
#
# Versions and hashes are those of requirements.lock, which a wheel of Stackroom holds, too. What
# no function uses is left out (most of botocore is the descriptions of services nobody calls),
# since a smaller zip starts faster.

PYTHON_VERSION = "3.13"

# As uv names the platforms of Lambda's architectures; its Python 3.13 runs on Amazon Linux 2023.
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
PLATFORMS = {"arm64": "aarch64-manylinux2014", "x86_64": "x86_64-manylinux2014"}

_NEVER_SHIPPED = ("bin", "*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED")
_OF_AN_EXTRA = re.compile(
    r"""(?P<requirement>[^;]+?)\s*;\s*extra\s*==\s*['"](?P<extra>[\w-]+)['"]"""
)

# What is stated bare is what the local mode needs, which is far more.
_OF_EVERY_FUNCTION = "functions"


def install(
    target: Path, *, extras: Collection[str] = (), packages: Sequence[str] = (), machine: str
) -> None:
    """
    Puts into `target` what Stackroom needs with these extras, and `packages` (as for pip).

    `machine` is a key of PLATFORMS. Raises RuntimeError with uv's words where there is no answer,
    as for a package that has no wheel for Lambda, or that contradicts a pinned one.
    """
    for_lambda = ["--python-platform", PLATFORMS[machine], "--python-version", PYTHON_VERSION]
    wanted = target.parent / f"{target.name}.in"
    pinned = target.parent / f"{target.name}.txt"
    hashed = ["--generate-hashes", "--constraint", str(shipped("requirements.lock"))]
    into = ["--target", str(target), "--only-binary", ":all:", "--require-hashes"]
    wanted.write_text("\n".join([*requirements(extras), *packages]) + "\n", "utf-8")
    try:
        _uv("compile", str(wanted), *hashed, *for_lambda, "-o", str(pinned))
        _uv("install", *into, *for_lambda, "-r", str(pinned))
    finally:
        wanted.unlink()
        pinned.unlink(missing_ok=True)


def requirements(extras: Collection[str]) -> list[str]:
    """What Stackroom, as it is installed here, says that functions need, and these extras."""
    stated = metadata.requires("stackroom") or []
    found = [_OF_AN_EXTRA.fullmatch(each) for each in stated]
    wanted = {_OF_EVERY_FUNCTION, *extras}
    return [each["requirement"] for each in found if each and each["extra"] in wanted]


def shipped(name: str) -> Path:
    """A file of the project, of the checkout or as its wheel holds it."""
    sources = Path(__file__).parents[1]
    held = sources / "stackroom_local" / "shipped" / name
    return held if held.exists() else sources.parent / name


# By opensearch-py's way over gRPC, which nobody takes: 17 MB that are never imported.
_OTHER_TRANSPORT = ("opensearchpy", "grpc")


def prune(target: Path, services: Collection[str] | None) -> None:
    """Leaves out what nobody reads, and of botocore all but `services`; None keeps every one."""
    for pattern in _NEVER_SHIPPED:
        for path in target.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if services is None:
        return
    for service in (target / "botocore" / "data").iterdir():
        if service.is_dir() and service.name not in services:
            shutil.rmtree(service)
    needed_by, transport = (target / name for name in _OTHER_TRANSPORT)
    if needed_by.is_dir() and transport.is_dir():
        shutil.rmtree(transport)


def compile_all(target: Path) -> None:
    """Byte code for the runtime's Python where one is here: a cold start halves with it."""
    python = _interpreter()
    if python is None:
        return
    # Unchecked, because file times in a zip say nothing; a fixed hash seed keeps bytes the same.
    command = [python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    paths = ["-s", str(target), "-p", "/var/task", str(target)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run([*command, *paths], env=environment, check=True)  # noqa: S603 - our own words


def _uv(*arguments: str) -> None:
    command = [find_uv_bin(), "pip", *arguments, "--python", sys.executable, "--quiet"]
    run = subprocess.run(  # noqa: S603 - our own words
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise RuntimeError(f"uv couldn't bundle a function's packages: {run.stderr.strip()}")


@cache
def _interpreter() -> str | None:
    command = [find_uv_bin(), "python", "find", "--no-project", PYTHON_VERSION]
    found = subprocess.run(  # noqa: S603 - our own words
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else None


def _environment() -> dict[str, str]:
    # uv would otherwise fetch a Python 3.13 only to know its version.
    return {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}


# The services that every bundle keeps of botocore/data, beside what resolves their endpoints.
BASE_SERVICES = frozenset(
    {
        "sso-oidc",  # imported by botocore's credential chain
        "sts",
    }
)


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """
    `folders` are our code, by their names in the zip, and `files` texts beside them; `extras` are
    Stackroom's, `packages` others'.

    `services` are those of AWS that the code calls, as botocore names them; None keeps all that
    there are, since it isn't known what the code calls.
    """

    folders: Mapping[str, Path]
    files: Mapping[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    services: frozenset[str] | None = BASE_SERVICES
    architecture: lambda_.Architecture

    def code(self, *, with_dependencies: bool) -> lambda_.Code:
        """The code asset of a function."""
        return lambda_.Code.from_asset(**self.asset(with_dependencies=with_dependencies))

    def asset(self, *, with_dependencies: bool) -> dict[str, Any]:
        """
        The arguments of any asset; without dependencies it needs no network and costs nothing.
        """
        known = "all" if self.services is None else " ".join(sorted(self.services))
        return {
            "path": str(next(iter(self.folders.values()))),
            # Hashed by the output: the same sources with other packages are another asset.
            "asset_hash_type": cdk.AssetHashType.OUTPUT,
            "bundling": cdk.BundlingOptions(
                image=cdk.DockerImage.from_registry("no-docker-needed"),
                local=_Bundler(self, with_dependencies=with_dependencies),
                # A different command gives each bundle a staging directory of its own.
                command=[
                    *(f"{name}={path}" for name, path in self.folders.items()),
                    *self.files,
                    *self.extras,
                    *self.packages,
                    known,
                    self.architecture.name,
                    str(with_dependencies),
                ],
            ),
        }

    def write(self, target: Path, *, with_dependencies: bool) -> None:
        unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
        for name, path in self.folders.items():
            shutil.copytree(path, target / name, ignore=unwanted)
        for name, text in self.files.items():
            (target / name).write_text(text, "utf-8")
        if with_dependencies:
            machine = self.architecture.name
            install(target, extras=self.extras, packages=self.packages, machine=machine)
            prune(target, self.services)
            compile_all(target)


@jsii.implements(cdk.ILocalBundling)
class _Bundler:
    def __init__(self, bundle: Bundle, *, with_dependencies: bool) -> None:
        self._bundle = bundle
        self._with_dependencies = with_dependencies

    # Name and arguments are those of the jsii interface.
    def try_bundle(self, output_dir: str, _options: Any = None, **_: Any) -> bool:
        self._bundle.write(Path(output_dir), with_dependencies=self._with_dependencies)
        return True


def source_of(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    found = find_spec(package)
    assert found is not None, f"{package} is part of Stackroom"
    assert found.submodule_search_locations, f"{package} is a package, no module"
    return Path(found.submodule_search_locations[0])
