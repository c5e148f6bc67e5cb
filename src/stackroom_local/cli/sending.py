"""drop for whoever is signed in to a deployment: by links that a tool gives, over MCP."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from stackroom.catalog_tools.texts import counted
from stackroom.keys import catalog_id_of
from stackroom.model import DocumentStatus
from stackroom_local.cli.answers import DocumentTold, DropAnswer, FileTold
from stackroom_local.cli.console import Output
from stackroom_local.cli.documents import SomeFailed, found_at, tell_not_dropped
from stackroom_local.cli.signed_in import POLL_SECONDS, SETTLED, Person
from stackroom_local.dropping import File
from stackroom_local.sites.problems import ToolRefused

_UPLOAD_SECONDS = 120.0
_UNCHANGED_SECONDS = 60.0  # after which a file that was there already is taken to be the same


def drop(person: Person, paths: list[Path], *, catalog: str, wait: bool, told: Output) -> None:
    found = found_at(paths)
    at = _opened(person, catalog)
    before = {each.filename: each for each in person.documents(at)}
    files = [_sent(person, at["catalog_id"], each) for each in found.files]
    told.people.print(
        f"dropped {sum(each.dropped for each in files)} of {counted(len(files), 'file')}"
    )
    if wait:
        files = _settled(person, at, files, before)
    refused = [(each.filename, each.reason or "") for each in files if not each.dropped]
    tell_not_dropped(told.people, refused)
    for each in files:
        if each.dropped and each.reason is not None:
            told.people.print(f"{each.filename}: {each.reason}", markup=False)
    left_out = [str(path) for path in found.left_out]
    told.answer(DropAnswer(prefix=None, files=files, left_out=left_out))
    if bad := sum(not each.dropped or each.status is DocumentStatus.FAILED for each in files):
        raise SomeFailed(bad, len(files))


def _opened(person: Person, catalog: str) -> dict[str, Any]:
    """The catalog of that name or id; made if there is none of that name."""
    wanted = {catalog, catalog_id_of(person.user_id, catalog)}
    for each in person.tools.catalogs():
        if each["catalog_id"] in wanted:
            return each
    return person.tools.call("create_catalog", catalog_name=catalog)


def _sent(person: Person, catalog_id: str, file: File) -> FileTold:
    """By the link that the tool gives: the bucket takes it, and no credentials are asked for."""
    try:
        link = person.tools.call(
            "upload_to_catalog", catalog_id=catalog_id, filename=file.name, replace=True
        )
        with file.path.open("rb") as body:
            answer = httpx.post(
                link["upload_url"],
                data=link["upload_fields"],
                files={"file": (file.path.name, body)},
                timeout=_UPLOAD_SECONDS,
            )
        answer.raise_for_status()
    except (OSError, httpx.HTTPError, ToolRefused) as error:
        return FileTold(key=None, filename=file.name, dropped=False, reason=str(error))
    return FileTold(key=None, filename=file.name, dropped=True)


@dataclass(frozen=True)
class _Settling:
    """What was sent, and what was there of it before."""

    files: Sequence[FileTold]
    before: Mapping[str, DocumentTold]

    def is_over(self, now: Mapping[str, DocumentTold], seconds: float) -> bool:
        """Whether each is indexed or failed; what is as it was before stays so after a while."""
        for each in self.files:
            record = now.get(each.filename)
            if each.dropped and (record is None or record.status not in SETTLED):
                return False
            is_as_before = record is not None and record == self.before.get(each.filename)
            if each.dropped and is_as_before and seconds < _UNCHANGED_SECONDS:
                return False
        return True


def _settled(
    person: Person,
    catalog: dict[str, Any],
    files: Sequence[FileTold],
    before: Mapping[str, DocumentTold],
) -> list[FileTold]:
    settling, began = _Settling(files, before), time.monotonic()
    while True:
        now = {each.filename: each for each in person.documents(catalog)}
        if settling.is_over(now, time.monotonic() - began):
            return [_ended(each, now) for each in files]
        time.sleep(POLL_SECONDS)


def _ended(file: FileTold, now: Mapping[str, DocumentTold]) -> FileTold:
    if not file.dropped:
        return file
    record = now[file.filename]
    return file.model_copy(update={"status": record.status, "reason": record.status_reason})
