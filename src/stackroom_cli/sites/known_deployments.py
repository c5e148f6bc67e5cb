"""
The deployments that a person added, and the tokens of sign-ins, in that person's own files.

    {folder}/deployments.json       each deployment's outputs, without secrets
    {folder}/sign-ins/{name}.json   the tokens of a sign-in, mode 0600

The folder is STACKROOM_CONFIG, or else the platform's folder for configuration: on Linux
~/.config/stackroom, or below XDG_CONFIG_HOME.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from bedrock_kb_simulator.access_keys import write_private
from stackroom_cli.sites.site import AwsSite
from stackroom_cli.sites.site_errors import NotKept, UnknownDeployment

_ALIEN = "this version of stackroom can't read it; remove it, and add its deployments again"


def config_folder() -> Path:
    named = os.environ.get("STACKROOM_CONFIG")
    return Path(named) if named else Path(typer.get_app_dir("stackroom"))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    deployments: list[AwsSite] = []


@dataclass(frozen=True)
class KnownDeployments:
    folder: Path = field(default_factory=config_folder)

    def all(self) -> list[AwsSite]:
        """Return the deployments by name. Raises `NotKept` if the file can't be read."""
        text = read(self._path)
        if text is None:
            return []
        try:
            kept = _File.model_validate_json(text)
        except ValidationError as error:
            raise NotKept(self._path, _ALIEN) from error
        return sorted(kept.deployments, key=lambda each: each.name)

    def named(self, name: str) -> AwsSite:
        found = {each.name: each for each in self.all()}
        if name not in found:
            raise UnknownDeployment(name, found)
        return found[name]

    def keep(self, site: AwsSite) -> None:
        """Save a deployment, replacing one of the same name. Raises `NotKept`."""
        self._write([*(each for each in self.all() if each.name != site.name), site])

    def forget(self, name: str) -> None:
        """Remove a deployment and the tokens of its sign-in. Raises `UnknownDeployment`."""
        removed = self.named(name)
        self._write([each for each in self.all() if each.name != removed.name])
        remove(self.sign_in_of(name))

    def sign_in_of(self, name: str) -> Path:
        return self.folder / "sign-ins" / f"{name}.json"

    @property
    def _path(self) -> Path:
        return self.folder / "deployments.json"

    def _write(self, deployments: list[AwsSite]) -> None:
        write(self._path, _File(deployments=deployments).model_dump_json(indent=2).encode())


def read(path: Path) -> bytes | None:
    """Return a file's content, or None if there is no such file. Raises `NotKept`."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotKept(path, error.strerror or str(error)) from error


def write(path: Path, content: bytes) -> None:
    """
    Write a file atomically, readable by its owner alone.

    Raises `NotKept`, and leaves the earlier content.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, content)
    except OSError as error:
        raise NotKept(path, f"it can't be written: {error.strerror or error}") from error


def remove(path: Path) -> bool:
    """Remove a file, and return whether it existed. Raises `NotKept`."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise NotKept(path, f"it can't be removed: {error.strerror or error}") from error
    return True
