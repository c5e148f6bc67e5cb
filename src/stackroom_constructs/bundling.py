"""The zip of a function: folders of our code, and beside them the packages that they import."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_

from stackroom_constructs import packages

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
            packages.install(target, extras=self.extras, packages=self.packages, machine=machine)
            packages.prune(target, self.services)
            packages.compile_all(target)


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
