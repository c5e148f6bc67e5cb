"""
`stackroom adopt` of many objects, killed twice: every file and attribute is accounted for.

    python -m tests.campaigns.adoption --objects 10000

Against a local mode of its own. Prints what was killed when, and what disagrees; ends with 1 on
any of it.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stackroom.model.attributes import Attribute
from stackroom.model.keys import SIDECAR_SUFFIX
from stackroom.uploads.descriptions import user_attributes
from stackroom_local.state import Instance
from tests.local.running import STACKROOM, kill_hard, local_mode

_KILLED_AT = (0.3, 0.6)  # of what is to be adopted
_AT_ONCE = 8  # files that a killed program may have left half done


@dataclass(frozen=True)
class Given:
    """One object at the source; `attributes` are those it must get, None if it is not taken."""

    name: str
    body: bytes
    sidecar: bytes | None
    attributes: Mapping[str, Attribute] | None


def given(number: int) -> Given:
    """A file of one of eight kinds, in one of a hundred folders."""
    name, body = f"{number % 100:02}/file {number}.txt", f"The file {number}.".encode()
    plain: dict[str, Attribute]
    plain = {"dept": "hr", "year": number, "public": number % 2 == 0, "tags": ["a", f"n{number}"]}
    typed = {
        "dept": {"value": {"type": "STRING", "stringValue": "hr"}, "includeForEmbedding": True},
        "year": {"value": {"type": "NUMBER", "numberValue": number}},
    }
    written: dict[str, Any]
    kept: dict[str, Attribute] | None
    match number % 8:
        case 0:
            return Given(name, body, None, {})
        case 1:
            written, kept = typed, {"dept": "hr", "year": number}
        case 2:
            written, kept = {**plain, "user_id": "mallory", "Ort": "Köln"}, {**plain, "ort": "Köln"}
        case 3:
            name = f"{number % 100:02}/Ma\u0308rz {number}.txt"
            written, kept = plain, {**plain}
        case 4:
            written, kept = {"text": "x" * 1000}, None
        case 5:
            name, written, kept = f"{name}.pptx", plain, None
        case 6:
            name, written, kept = f"._file {number}.txt", plain, None
        case _:
            written, kept = plain, {**plain}
    return Given(name, body, json.dumps({"metadataAttributes": written}).encode(), kept)


@dataclass(frozen=True)
class Campaign:
    """`folder` is where the files lie here, if they lie in no bucket."""

    instance: Instance
    objects: int
    moves: bool
    user: str
    folder: Path | None = None

    @cached_property
    def files(self) -> Mapping[str, Given]:
        return {each.name: each for each in map(given, range(self.objects))}

    @cached_property
    def wanted(self) -> Mapping[str, Given]:
        return {name: each for name, each in self.files.items() if each.attributes is not None}

    @property
    def source(self) -> str:
        return str(self.folder) if self.folder else f"s3://{self._bucket}/theirs"

    def run(self) -> list[str]:
        """Return what disagrees after two kills and a run to the end."""
        self._put_all()
        for share in _KILLED_AT:
            self._killed_at(round(share * len(self.wanted)))
        ended = subprocess.run(self._command, capture_output=True, text=True, check=False)
        answer = json.loads(ended.stdout)
        outcomes = {each["filename"]: each["outcome"] for each in answer["files"]}
        print({each: [*outcomes.values()].count(each) for each in set(outcomes.values())})
        return [*self._at_the_target(), *self._at_the_source(), *self._told(answer, outcomes)]

    def _at_the_target(self) -> Iterator[str]:
        there = {key.removeprefix(self._prefix): key for key in self._keys_at_target()}
        yield from (f"not adopted: {name}" for name in self.wanted.keys() - there.keys())
        yield from (f"adopted: {name}" for name in there.keys() - self.wanted.keys())

        def look(name: str) -> str | None:
            found = self._s3.get_object(Bucket=self.instance.bucket, Key=there[name])
            its = found["Body"].read(), user_attributes(found["Metadata"])
            expected = self.wanted[name].body, self.wanted[name].attributes
            return None if its == expected else f"{name}: {its} for {expected}"

        with ThreadPoolExecutor(_AT_ONCE) as workers:
            looked = workers.map(look, self.wanted.keys() & there.keys())
            yield from filter(None, looked)
        pages = self._s3.get_paginator("list_object_versions")
        listed = pages.paginate(Bucket=self.instance.bucket, Prefix=self._prefix)
        versions = [each["Key"] for page in listed for each in page.get("Versions", ())]
        twice = sum(not key.endswith(SIDECAR_SUFFIX) for key in versions) - len(there)
        if twice > _AT_ONCE * len(_KILLED_AT):
            yield f"{twice} files were written more than once"

    def _at_the_source(self) -> Iterator[str]:
        """Of a move, the sidecars of files that were under way when it was killed may be left."""
        left = set(self._names_at_source())
        for name, each in self.files.items():
            stays = not self.moves or each.attributes is None
            if stays != (name in left):
                yield f"{name} {'is gone from' if stays else 'is left at'} the source"
            if stays and each.sidecar and name + SIDECAR_SUFFIX not in left:
                yield f"{name}'s sidecar is gone from the source"
        sidecars = sum(name + SIDECAR_SUFFIX in left for name in self.wanted) if self.moves else 0
        if sidecars > _AT_ONCE * len(_KILLED_AT):
            yield f"{sidecars} sidecars of files that were adopted are left at the source"

    def _told(self, answer: Mapping[str, Any], outcomes: Mapping[str, str]) -> Iterator[str]:
        """What was moved before a kill is told no more; all else that was given is."""
        told = {*outcomes, *answer["not_taken"], *answer["left_out"]}
        known = set(self.files).difference(self.wanted if self.moves else ())
        yield from (f"not told: {name}" for name in known - told)
        for name, outcome in outcomes.items():
            if (outcome in ("adopted", "present")) != (name in self.wanted):
                yield f"{name} is told as {outcome}"

    def _killed_at(self, number: int) -> None:
        began = time.monotonic()
        process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while (there := len(self._keys_at_target())) < number:
            assert process.poll() is None, f"it ended at {there} of {number} files"
            time.sleep(0.05)
        kill_hard(process.pid)
        process.wait()
        there = len(self._keys_at_target())
        print(f"killed after {time.monotonic() - began:.1f} s, {there:,} files adopted", flush=True)

    @property
    def _command(self) -> Sequence[str | Path]:
        command = ["adopt", self.source, "--user", self.user, "--catalog", "adopted", "--apply"]
        more = ["--json", *(["--move"] if self.moves else [])]
        return [STACKROOM, *command, *more, "--state-dir", self.instance.state_dir]

    def _put_all(self) -> None:
        if self.folder is None:
            self._s3.create_bucket(Bucket=self._bucket)
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            for _ in workers.map(self._put, self.files.values()):
                pass
        print(f"{len(self.files):,} files lie at {self.source}", flush=True)

    def _put(self, file: Given) -> None:
        for name, body in ((file.name, file.body), (file.name + SIDECAR_SUFFIX, file.sidecar)):
            if body is None:
                continue
            if self.folder is None:
                self._s3.put_object(Bucket=self._bucket, Key=f"theirs/{name}", Body=body)
            else:
                path = self.folder / name
                path.parent.mkdir(exist_ok=True, parents=True)
                path.write_bytes(body)

    def _names_at_source(self) -> Iterator[str]:
        if self.folder is None:
            yield from (key.removeprefix("theirs/") for key in self._keys(self._bucket, "theirs/"))
            return
        for path in self.folder.rglob("*"):
            if path.is_file():
                yield str(path.relative_to(self.folder))

    def _keys_at_target(self) -> list[str]:
        """Without our own sidecars, which the pipeline writes meanwhile."""
        keys = self._keys(self.instance.bucket, self._prefix)
        return [key for key in keys if not key.endswith(SIDECAR_SUFFIX)]

    def _keys(self, bucket: str, prefix: str) -> Iterator[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return (each["Key"] for page in pages for each in page.get("Contents", ()))

    @property
    def _s3(self) -> Any:
        return self.instance.client("s3")

    @property
    def _bucket(self) -> str:
        return f"bucket-of-{self.user}"

    @property
    def _prefix(self) -> str:
        return f"{self.user}/adopted/"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--move", action="store_true", help="delete at the source what is adopted")
    parser.add_argument("--from-folder", action="store_true", help="and not from a bucket")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="stackroom-adoption-") as there,
        local_mode(Path(there) / "state") as instance,
    ):
        folder = Path(there) / "theirs" if options.from_folder else None
        campaign = Campaign(instance, options.objects, options.move, f"owner-{os.getpid()}", folder)
        problems = campaign.run()
    print("\n".join(problems[:50]) or "every file and attribute is accounted for")
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())
