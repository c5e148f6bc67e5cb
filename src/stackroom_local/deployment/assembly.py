"""
A CDK cloud assembly as it lies on disk: stacks in the order in which they deploy, and file assets.

Format: https://docs.aws.amazon.com/cdk/api/v2/docs/cloud-assembly-schema-readme.html
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

Template = dict[str, Any]  # CloudFormation's JSON: open by nature, checked by CloudFormation


@dataclass(frozen=True)
class Asset:
    """A file that a template refers to in the bootstrap bucket, under `key`."""

    key: str
    source: Path


@dataclass(frozen=True)
class Stack:
    name: str
    template: Template
    assets: tuple[Asset, ...]


def stacks(assembly: Path) -> list[Stack]:
    artifacts = json.loads((assembly / "manifest.json").read_bytes())["artifacts"]
    depends_on = {name: artifact.get("dependencies", []) for name, artifact in artifacts.items()}
    return [
        _stack(assembly, name, artifacts[name])
        for name in TopologicalSorter(depends_on).static_order()
        if artifacts[name]["type"] == "aws:cloudformation:stack"
    ]


def files_of(assembly: Path) -> Iterator[Path]:
    """
    Yield the files of an assembly that `stacks` reads, and the assets: the files that a wheel
    ships.
    """
    yield assembly / "manifest.json"
    artifacts = json.loads((assembly / "manifest.json").read_bytes())["artifacts"]
    for name, artifact in artifacts.items():
        if artifact["type"] == "aws:cloudformation:stack":
            template = artifact["properties"]["templateFile"]
            yield assembly / template
            yield from filter(Path.exists, [_manifest_of_assets(assembly, name)])
            yield from (each.source for each in _assets(assembly, name, template_file=template))


def _stack(assembly: Path, name: str, artifact: dict[str, Any]) -> Stack:
    properties = artifact["properties"]
    template = json.loads((assembly / properties["templateFile"]).read_bytes())
    # What the bootstrap stack is asked for on AWS; there is none here and nothing uses it.
    template.get("Parameters", {}).pop("BootstrapVersion", None)
    template.pop("Rules", None)
    return Stack(
        name=properties.get("stackName", name),
        template=template,
        assets=_assets(assembly, name, template_file=properties["templateFile"]),
    )


def _assets(assembly: Path, name: str, *, template_file: str) -> tuple[Asset, ...]:
    manifest = _manifest_of_assets(assembly, name)
    if not manifest.exists():
        return ()
    files = json.loads(manifest.read_bytes())["files"].values()
    return tuple(
        Asset(key=destination["objectKey"], source=assembly / file["source"]["path"])
        for file in files
        for destination in file["destinations"].values()
        # zip assets are the functions' code, which here runs from the checkout
        if file["source"]["packaging"] == "file" and file["source"]["path"] != template_file
    )


def _manifest_of_assets(assembly: Path, name: str) -> Path:
    return assembly / f"{name}.assets.json"
