"""
What everybody sees in the end, against the model: bucket, records, receipts, answers, verbs; and
what nobody is shown, the passages that the index holds.
"""

import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from stackroom.model.keys import NO_USER, Location, is_ours, locate
from stackroom.model.records import UNEXPLAINED_FAILURE, Document, DocumentStatus
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.campaigns.soak.actor import WORD
from tests.campaigns.soak.model import Content, End, Model
from tests.e2e.people import Person
from tests.local.running import stackroom

_ENDS = {
    End.INDEXED: {DocumentStatus.INDEXED},
    End.FAILED: {DocumentStatus.FAILED},
    End.EITHER: {DocumentStatus.INDEXED, DocumentStatus.FAILED},
}

# Readings whose messages were killed with their queue, and slots of data sources that the tables
# know nothing of any more.
_MADE_UP_FOR = ("unread file ", "lost slot ")


@dataclass(frozen=True)
class Judge:
    instance: Instance
    model: Model
    users: tuple[str, ...]
    on_look: Callable[[], None]

    def verdict(self, *, patience: float) -> list[str]:
        """All that disagrees, once nothing does or `patience` is over. It mends nothing."""
        deadline = time.monotonic() + patience
        while found := self._first_disagreements():
            if time.monotonic() > deadline:
                break
            self.on_look()
            time.sleep(1)
        self.on_look()
        return found

    def _first_disagreements(self) -> list[str]:
        """What is slow to look at is looked at once what is quick agrees."""
        stages: tuple[Callable[[], Iterator[str]], ...] = (
            self.of_bucket,
            self.of_records,
            self.of_receipts,
            self.of_answers,
            self.of_verbs,
            self.of_index,
        )
        return next((found for stage in stages if (found := _told(stage))), [])

    def of_bucket(self) -> Iterator[str]:
        pages = self.instance.client("s3").get_paginator("list_objects_v2")
        there = {
            each["Key"]: each["ETag"].strip('"')
            for page in pages.paginate(Bucket=self.instance.bucket)
            for each in page.get("Contents", [])
            if not is_ours(each["Key"])
        }
        for key in self.model.used() | there.keys():
            if wrong := self.model.read_back(key, there.get(key)):
                yield wrong

    def of_records(self) -> Iterator[str]:
        records = {
            each.s3_key: each for user in (*self.users, NO_USER) for each in self._listed(user)
        }
        expected = dict(self.model.contents())
        for key, content in expected.items():
            if key not in records:
                yield f"status: {key!a} must be {content.end}, and is not listed"
            elif wrong := _wrong_with(records[key], content):
                yield f"status: {key!a} {wrong}"
        for key in records.keys() - expected.keys():
            told = records[key]
            since = f"since {told.updated_at:%H:%M:%S}: {told.status_reason}"
            yield f"status: {key!a} lies there no more, and is {told.status} {since}"

    def of_receipts(self) -> Iterator[str]:
        receipts = SiteServices(self.instance).stores.receipts
        for user in self.users:
            for each in receipts.of_user(user):
                if each.is_open:
                    yield f"receipt: {each.receipt_id} of {each.filename!a} is open"

    def of_answers(self) -> Iterator[str]:
        """A catalog has fewer documents than an answer has passages, so that all are shown."""
        for user in self.users:
            yield from self._strangers(user, self._shown(user))
            for catalog_id, expected in self._shelves(user).items():
                found = self._shown(user, catalog_id=catalog_id)
                for word in expected - found:
                    yield f"answer: {user} must find {word}, and does not"
                for word in found - expected:
                    yield f"answer: {user} finds {word}, which is there no more"
                for other in set(self.users) - {user}:
                    for word in self._shown(other, catalog_id=catalog_id):
                        yield f"answer: {other} is shown {word} in a catalog of {user}"

    def of_verbs(self) -> Iterator[str]:
        """
        All but what the reconciler's next round makes up for: here it comes at once, for on AWS it
        would be an hour later.
        """
        state = self.instance.state_dir
        found = stackroom("reconcile", "--dry-run", state_dir=state).stdout.splitlines()[:-1]
        if found and all(each.startswith(_MADE_UP_FOR) for each in found):
            stackroom("reconcile", state_dir=state)
        for arguments, good in (
            (("reconcile", "--dry-run"), "found nothing"),
            (("doctor",), "no event was given up"),
        ):
            ended = stackroom(*arguments, state_dir=state)
            if ended.returncode or good not in ended.stdout:
                said = f"{ended.stdout}{ended.stderr}".strip()
                yield f"stackroom {' '.join(arguments)} ended with {ended.returncode}:\n{said}"

    def of_index(self) -> Iterator[str]:
        """A tool shows no text of what is gone, whatever is left of it: here it is looked for."""
        words = {content.word for _, content in self.model.contents()}
        path = self.instance.state_dir / "simulator" / "simulator.sqlite"
        held = "SELECT text, attributes FROM vectors WHERE coalesce(visible_until, ?1) >= ?1"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as index:
            for text, attributes in index.execute(held, (time.time(),)):
                for found in WORD.finditer(text):
                    if found.group() not in words:
                        yield f"index: it has {found.group()}, which is there no more: {attributes}"

    def _listed(self, user: str) -> list[Document]:
        return list(SiteRecords(self.instance).documents(user))

    def _shelves(self, user: str) -> dict[str, set[str]]:
        """By catalog, the words that its owner must find: those of what is listed as indexed."""
        indexed = {
            each.s3_key for each in self._listed(user) if each.status is DocumentStatus.INDEXED
        }
        shelves = defaultdict[str, set[str]](set)
        for key in self.model.used():
            place = locate(key)
            if not isinstance(place, Location) or place.user_id != user:
                continue
            content = self.model.holds(key)
            shelves[place.catalog_id] |= {content.word} if content and key in indexed else set()
        return shelves

    def _shown(self, user: str, **narrower: str) -> set[str]:
        """The words in the answer; none where there is no such catalog of theirs."""
        person = Person(self.instance, user)
        answer = person.call(query="What is the word of the day?", top_k=20, **narrower)
        assert answer["success"] or answer["errorType"] == "KnowledgeBaseNotFound", answer
        return {
            found.group()
            for passage in answer["results"]
            for found in WORD.finditer(passage["content"])
        }

    def _strangers(self, user: str, shown: set[str]) -> Iterator[str]:
        for word in shown:
            if not word.startswith(f"{user}-"):
                yield f"answer: {user} is shown {word}"


def _told(stage: Callable[[], Iterator[str]]) -> list[str]:
    try:
        return list(stage())
    except Exception as error:  # whoever can't be asked does not agree
        return [f"{stage.__name__} broke: {error!r}"]


def _wrong_with(record: Document, content: Content) -> str | None:
    if record.status not in _ENDS[content.end]:
        return f"must be {content.end}, and is {record.status}: {record.status_reason}"
    if record.etag.strip('"') != content.etag:
        return f"is {record.status}, as another version than lies there"
    if record.status is DocumentStatus.FAILED and not _says_why(
        record.status_reason or "", content
    ):
        return f"must fail because {content.reason!r}, and says {record.status_reason!r}"
    return None


def _says_why(told: str, content: Content) -> bool:
    """
    Or that nobody knows: a kill of ministack takes its queues along, which AWS's outlive, and with
    them the event that an inspection waited for. The reconciler brings back the record alone.
    """
    return told == UNEXPLAINED_FAILURE or re.search(content.reason, told) is not None
