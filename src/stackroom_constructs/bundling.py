"""The zip of a function: folders of our code, and the packages that they import."""

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

# The packages of a function's zip are installed without docker: uv downloads the wheels for
# Lambda, and refuses to build from source.
#
# Versions and hashes are those of requirements.lock, which Stackroom's wheel contains, too. Files
# that no function uses are removed (most of botocore describes services that nobody calls),
# since a smaller zip starts faster.

PYTHON_VERSION = "3.13"

# uv's names for the platforms of Lambda's architectures; Python 3.13 runs on Amazon Linux 2023.
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
PLATFORMS = {"arm64": "aarch64-manylinux2014", "x86_64": "x86_64-manylinux2014"}

_EXCLUDED = ("bin", "*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED")
_EXTRA_REQUIREMENT = re.compile(
    r"""(?P<requirement>[^;]+?)\s*;\s*extra\s*==\s*['"](?P<extra>[\w-]+)['"]"""
)

# The requirements without an extra are those of the local mode, which needs far more.
_FUNCTIONS_EXTRA = "functions"


def install(
    target: Path, *, extras: Collection[str] = (), packages: Sequence[str] = (), machine: str
) -> None:
    """
    Install Stackroom's requirements with these extras, and `packages` (as for pip), into `target`.

    `machine` is a key of PLATFORMS. Raises RuntimeError with uv's message if there is no solution,
    such as for a package without a wheel for Lambda, or one that contradicts a pinned one.
    """
    for_lambda = ["--python-platform", PLATFORMS[machine], "--python-version", PYTHON_VERSION]
    requested = target.parent / f"{target.name}.in"
    pinned = target.parent / f"{target.name}.txt"
    hashed = ["--generate-hashes", "--constraint", str(project_file("requirements.lock"))]
    into = ["--target", str(target), "--only-binary", ":all:", "--require-hashes"]
    requested.write_text("\n".join([*requirements(extras), *packages]) + "\n", "utf-8")
    try:
        _uv("compile", str(requested), *hashed, *for_lambda, "-o", str(pinned))
        _uv("install", *into, *for_lambda, "-r", str(pinned))
    finally:
        requested.unlink()
        pinned.unlink(missing_ok=True)


def requirements(extras: Collection[str]) -> list[str]:
    """Return the requirements of functions and of these extras, from Stackroom's metadata."""
    stated = metadata.requires("stackroom") or []
    found = [_EXTRA_REQUIREMENT.fullmatch(each) for each in stated]
    requested = {_FUNCTIONS_EXTRA, *extras}
    return [each["requirement"] for each in found if each and each["extra"] in requested]


def project_file(name: str) -> Path:
    """Return the path of a project file, in the checkout or in the wheel."""
    sources = Path(__file__).parents[1]
    packaged = sources / "stackroom_local" / "shipped" / name
    return packaged if packaged.exists() else sources.parent / name


# opensearch-py's gRPC transport, which nobody uses: 17 MB that are never imported.
_OTHER_TRANSPORT = ("opensearchpy", "grpc")


def prune(target: Path, services: Collection[str] | None) -> None:
    """Remove unused files, and all of botocore's services but `services`; None keeps them all."""
    for pattern in _EXCLUDED:
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
    """Compile byte code if the runtime's Python is available: it halves a cold start."""
    python = _interpreter()
    if python is None:
        return
    # Unchecked, because file times in a zip mean nothing; a fixed hash seed keeps bytes the same.
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
    # Otherwise uv would download Python 3.13 just to know its version.
    return {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}


# The services in botocore/data that every bundle keeps, besides those for endpoints.
BASE_SERVICES = frozenset(
    {
        "sso-oidc",  # imported by botocore's credential chain
        "sts",
    }
)


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """
    The content of a zip.

    `folders` are our code, by their names in the zip, and `files` further texts; `extras` are
    Stackroom's, `packages` others'. `services` are the AWS services that the code calls, by
    botocore's names; None keeps all of them, for code whose calls are unknown.
    """

    folders: Mapping[str, Path]
    files: Mapping[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    services: frozenset[str] | None = BASE_SERVICES
    architecture: lambda_.Architecture

    def code(self, *, with_dependencies: bool) -> lambda_.Code:
        """Return the code asset of a function."""
        return lambda_.Code.from_asset(**self.asset(with_dependencies=with_dependencies))

    def asset(self, *, with_dependencies: bool) -> dict[str, Any]:
        """
        Return the arguments of any asset; without dependencies it takes no network and no time.
        """
        services = "all" if self.services is None else " ".join(sorted(self.services))
        return {
            "path": str(next(iter(self.folders.values()))),
            # Hashed by the output: the same sources with other packages make another asset.
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
                    services,
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
    """Return the folder of an installed package, without importing it."""
    found = find_spec(package)
    assert found is not None, f"{package} is part of Stackroom"
    assert found.submodule_search_locations, f"{package} is a package, not a module"
    return Path(found.submodule_search_locations[0])
