"""A document waits for its text: the handler of uploads and the reader of files together."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest

from stackroom.access.tenancy import key_of
from stackroom.catalogs.transfers import Sending
from stackroom.errors import StoreUnavailable
from stackroom.model.keys import TextName
from stackroom.model.records import STILL_ANSWERS, UNEXPLAINED_FAILURE, DocumentStatus
from stackroom.text.gaps import UNREAD
from tests.fakes.disturbed import Disturbed
from tests.support.interleavings import Actor, Choice, Stage, in_every_order
from tests.support.records import NOW
from tests.unit.pipeline import CATALOG
from tests.unit.reading import KEY, Reading

BROKEN = "alice/research/broken.pdf"  # whatever is in it, it is no PDF


def test_document_waits_unlisted_until_its_text_is_written(reading: Reading) -> None:
    reading.upload("Meals are 48 euros")

    plan = reading.handle()

    document = reading.document()
    catalog = reading.pipeline.catalogs.kept[CATALOG]
    assert (document.status, document.unread) == (DocumentStatus.PENDING, True)
    assert list(reading.documents.open_in(CATALOG)) == []
    assert (catalog.waiting_count, catalog.status) == (1, "indexing")
    assert plan.run_for is None


def test_unreadable_file_is_sent_to_bedrock_unchanged(reading: Reading) -> None:
    for reader_first in (False, True):
        reading = Reading()
        reading.upload(key=BROKEN)
        steps: list[Callable[[], object]] = [partial(reading.handle, BROKEN)]
        steps.insert(0 if reader_first else 1, partial(reading.read, BROKEN))
        for step in steps:
            step()

        document = reading.document(BROKEN)
        assert (document.unread, document.text_id) == (False, None)
        assert len(reading.requests.asked) == 1
        assert reading.texts_of(BROKEN) == set()


def test_file_that_crashes_the_reader_goes_to_bedrock_with_a_gap(reading: Reading) -> None:
    reading.reader = lambda *_: None

    reading.drop()

    document = reading.document()
    assert (document.unread, document.text_id) == (False, None)
    assert len(reading.requests.asked) == 1
    assert reading.inspections.results_for([document])[document.document_id].gaps == (UNREAD,)


# A version after another.


def test_text_of_the_indexed_version_stays_until_the_next_is_proven(reading: Reading) -> None:
    reading.drop("first")
    first = reading.text_id()
    reading.pipeline.index(KEY)
    indexed = reading.document()

    reading.drop("second")
    under_way, kept = reading.document(), reading.texts_of()
    reading.pipeline.index(KEY)

    second = reading.text_id()
    assert (indexed.text_id, indexed.indexed_text_id) == (first, first)
    assert (under_way.text_id, under_way.indexed_text_id) == (second, first)
    assert under_way.answering_version_id(NOW) == indexed.version_id == indexed.indexed_version_id
    assert under_way.answering_version_id(NOW + timedelta(days=31)) is None
    assert reading.document().answering_version_id(NOW) is None
    assert kept == {first, second}
    assert set(reading.document().text_ids) == reading.texts_of() == {second}


def test_rejected_file_that_may_be_taken_by_now_is_read_first(reading: Reading) -> None:
    reading.upload("text")
    reading.pipeline.bucket.keep_from_us(KEY, "it is archived")
    reading.handle()
    rejected = reading.document()
    stored = reading.pipeline.bucket.objects[KEY]
    reading.pipeline.bucket.objects[KEY] = replace(stored, unreadable=None)

    plan = reading.handle()

    assert rejected.status is DocumentStatus.FAILED
    assert (reading.document().unread, plan.run_for, plan.awaits_text) == (True, None, True)


@dataclass
class PuttingTransfers:
    """Puts what a tool sends into the bucket, and tells nobody."""

    reading: Reading

    def put(self, key: str, body: bytes, *, replace: bool, **_: object) -> str | None:
        self.reading.upload(body.decode(), key)
        return self.reading.pipeline.bucket.objects[key].etag


def tool_of(reading: Reading) -> Sending:
    return Sending(
        catalogs=reading.pipeline.catalogs,
        documents=reading.documents,
        bucket=reading.pipeline.bucket,
        transfers=cast("Any", PuttingTransfers(reading)),
        now=reading.pipeline.clock,
    )


@pytest.mark.parametrize("reader_first", [False, True])
def test_file_that_a_tool_replaces_has_no_text_until_it_is_read(
    reading: Reading, *, reader_first: bool
) -> None:
    reading.drop("first")
    reading.pipeline.index(KEY)
    sending = tool_of(reading)

    sending.put("alice", CATALOG, "report.txt", b"second", replace=True, attributes={})

    written = reading.document()
    steps: list[Callable[[], object]] = [reading.handle, reading.read]
    for step in reversed(steps) if reader_first else steps:
        step()
    assert (written.status, written.unread, written.text_id) == (DocumentStatus.PENDING, True, None)
    assert list(reading.documents.open_in(CATALOG)) == [reading.document()]
    assert reading.document().text_id == reading.text_id()
    has_its_own_text(reading)


def test_event_that_overtakes_its_upload_tool_leaves_nothing_unread(reading: Reading) -> None:
    reading.drop("first")
    sending = tool_of(reading)
    reading.documents.before("get", lambda *_: (reading.handle(), reading.read()), times=2)

    sending.put("alice", CATALOG, "report.txt", b"second", replace=True, attributes={})

    assert reading.document().text_id == reading.text_id()
    has_its_own_text(reading)


# A crash before any step, and the event delivered again.


def steps_of(reading: Reading) -> list[tuple[Disturbed, str]]:
    """Return the steps of both, between which another or a crash can come."""
    return [
        *((reading.documents, each) for each in ("get", "save")),
        *((reading.inspections, each) for each in ("record", "results_for")),
        *((reading.texts, each) for each in ("put", "names", "remove")),
        *((reading.pipeline.bucket, each) for each in ("head", "version_of")),
        (reading.requests, "ask"),
    ]


@dataclass
class Crash(Exception):
    """Comes before one of the steps, by its number; the others go on."""

    left: int

    def __call__(self, *_: object, **__: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise self


@pytest.mark.parametrize("number", range(1, 9))  # a delivery has no more steps
@pytest.mark.parametrize("who", ["handler", "reader"])
@pytest.mark.parametrize("is_second", [False, True])
def test_crash_before_any_step_is_made_good_by_the_next_delivery(
    reading: Reading, who: str, number: int, *, is_second: bool
) -> None:
    act, other = (
        (reading.handle, reading.read) if who == "handler" else (reading.read, reading.handle)
    )
    reading.upload()
    if is_second:
        other()
    crash = Crash(number)
    for owner, method in steps_of(reading):
        owner.before(method, crash)
    with suppress(Crash):
        act()

    crash.left = 0
    act()
    if not is_second:
        other()

    settled(reading)


def settled(reading: Reading) -> None:
    """The document has the text of what lies there, and no other, and a run was asked for."""
    document = reading.document()
    assert (document.unread, document.text_id) == (False, reading.text_id())
    assert reading.texts_of() == {document.text_id}
    assert reading.is_asked()


# Every order of their steps.


def check_every_order(
    begin: Callable[[], Reading],
    actors: Callable[[Reading], Mapping[str, Actor]],
    check: Callable[[Reading], None],
    *,
    switches: int,
) -> None:
    """After each of them, the check holds."""

    def run(first: Sequence[str]) -> list[Choice]:
        reading, stage = begin(), Stage()
        for owner, method in steps_of(reading):
            stage.make_steps(owner, method)
        choices = stage.run(actors(reading), first)
        try:
            check(reading)
        except AssertionError as error:
            error.add_note(f"in this order: {', '.join(each.chosen for each in choices)}")
            raise
        return choices

    assert sum(1 for _ in in_every_order(run, switches=switches)) > 10


def uploaded() -> Reading:
    reading = Reading()
    reading.upload()
    return reading


def test_second_of_handler_and_reader_requests_a_run_in_every_order() -> None:
    def check(reading: Reading) -> None:
        settled(reading)
        assert not any(each is None or each.unread for each in reading.requests.asked)

    def actors(reading: Reading) -> Mapping[str, Actor]:
        return {"handler": Actor(reading.handle), "reader": Actor(reading.read)}

    check_every_order(uploaded, actors, check, switches=3)


def test_two_readers_at_once_leave_one_text_in_every_order() -> None:
    def actors(reading: Reading) -> Mapping[str, Actor]:
        return {
            "handler": Actor(reading.handle),
            "reader": Actor(reading.read),
            "reader again": Actor(reading.read),
        }

    check_every_order(uploaded, actors, settled, switches=1)


def after_upload(reading: Reading, body: str, **attributes: str) -> dict[str, Actor]:
    """A new version is uploaded, and then both are told."""
    is_there = list[bool]()

    def upload() -> None:
        reading.upload(body, **attributes)
        is_there.append(True)
        reading.handle()

    return {
        "handler": Actor(upload),
        "reader": Actor(reading.read, ready=lambda: bool(is_there)),
    }


def has_its_own_text(reading: Reading) -> None:
    """The document is not unread, and what it says is its text is that of what lies there."""
    document = reading.document()
    there = reading.pipeline.bucket.objects[KEY].etag.removeprefix("etag of ")
    text = next(
        text for name, text in reading.texts.kept.items() if name.text_id == document.text_id
    )
    assert not document.unread
    assert there in text.markdown
    assert reading.is_asked()


def test_file_replaced_while_it_is_read_gets_the_text_of_its_successor() -> None:
    def handled() -> Reading:
        reading = Reading()
        reading.upload("first")
        reading.handle()
        return reading

    def actors(reading: Reading) -> Mapping[str, Actor]:
        return {"first reader": Actor(reading.read), **after_upload(reading, "second")}

    def check(reading: Reading) -> None:
        has_its_own_text(reading)
        assert reading.document().text_id == reading.text_id()

    check_every_order(handled, actors, check, switches=1)


@pytest.mark.parametrize("before", ["unread", "pending", "indexed", "failed"])
@pytest.mark.parametrize("attributes", [{}, {"kb_domain": "hr"}])
def test_same_content_dropped_again_is_never_left_without_text(
    before: str, attributes: dict[str, str]
) -> None:
    def begin() -> Reading:
        reading = Reading()
        reading.upload("text")
        reading.handle()
        if before != "unread":
            reading.read()
        if before in ("indexed", "failed"):
            status = DocumentStatus(before)
            reason = UNEXPLAINED_FAILURE if before == "failed" else None
            document = reading.document()
            settled = document.moved(status, at=document.updated_at, reason=reason)
            reading.documents.save(settled)
        return reading

    def actors(reading: Reading) -> Mapping[str, Actor]:
        first = {"first reader": Actor(reading.read)} if before == "unread" else {}
        return {**first, **after_upload(reading, "text", **attributes)}

    check_every_order(begin, actors, has_its_own_text, switches=1 if before == "unread" else 2)


def test_file_deleted_while_it_is_read_leaves_no_text() -> None:
    def handled() -> Reading:
        reading = uploaded()
        reading.handle()
        return reading

    def actors(reading: Reading) -> Mapping[str, Actor]:
        def delete() -> None:
            reading.pipeline.bucket.delete(KEY)
            reading.handle()
            reading.remove()

        return {"reader": Actor(reading.read), "owner": Actor(delete)}

    def check(reading: Reading) -> None:
        assert (reading.found(), reading.texts_of()) == (None, set())

    check_every_order(handled, actors, check, switches=2)


def test_same_content_dropped_after_its_deletion_keeps_its_text() -> None:
    def deleted() -> Reading:
        reading = uploaded()
        reading.handle()
        reading.read()
        reading.pipeline.bucket.delete(KEY)
        return reading

    def actors(reading: Reading) -> Mapping[str, Actor]:
        def remove() -> None:
            reading.handle()
            reading.remove()

        return {
            "remover": Actor(remove),
            "reader of the deletion": Actor(reading.read),
            **after_upload(reading, "text"),
        }

    check_every_order(deleted, actors, has_its_own_text, switches=1)


def test_verdict_is_written_though_the_text_before_cannot_be_removed(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> list[TextName]:
        raise StoreUnavailable("ListObjectVersions", "500")

    reading.drop("first")
    reading.pipeline.index(KEY)
    reading.drop("second")
    with monkeypatch.context() as broken:
        broken.setattr(type(reading.pipeline.texts), "names", fail)
        reading.pipeline.index(KEY)

    document = reading.document()
    assert (document.status, document.indexed_text_id) == (DocumentStatus.INDEXED, document.text_id)


def submitted(reading: Reading) -> tuple[str, object]:
    """The key of what Bedrock was given last to read, and the text that it was named by."""
    reading.pipeline.work()
    [submission] = reading.pipeline.bedrock.submitted.values()
    return key_of(submission.uri), submission.attributes.get("text_id")


def test_direct_call_sends_the_text_and_names_it(reading: Reading) -> None:
    reading.drop("text")

    [name] = reading.texts.kept

    assert submitted(reading) == (name.key, name.text_id)


def test_direct_call_sends_the_file_where_there_is_no_text(reading: Reading) -> None:
    reading.reader = lambda *_: None
    reading.drop("text")

    assert submitted(reading) == (KEY, None)


def test_chosen_parser_gets_the_file_and_its_passages_the_texts_id(reading: Reading) -> None:
    chosen = replace(reading.pipeline.use_cases._direct_calls, sends_texts=False)
    reading.drop("text")

    bound = chosen.bind([reading.document()], "direct-1-0")

    assert bound.submissions is not None
    [submission] = bound.submissions.values()
    assert key_of(submission.uri) == KEY
    assert submission.attributes["text_id"] == reading.text_id()


def test_file_dropped_again_waits_for_its_call_though_it_is_unread(reading: Reading) -> None:
    pipeline, bedrock = reading.pipeline, reading.pipeline.bedrock
    reading.drop("older")
    bedrock.direct_seconds = 20.0
    run = pipeline.work()
    reading.upload("newer")
    reading.handle()
    polled = pipeline.poll(run).run
    reading.read()

    pipeline.go_on(polled)

    first, second = bedrock.direct_calls
    assert (second.accepted_at - first.accepted_at).total_seconds() >= 20
    assert reading.document().indexed_text_id == reading.text_id()


@pytest.mark.parametrize("status", ["INDEXED", "FAILED"])
def test_deleted_text_stays_hidden_if_its_file_is_dropped_anew(
    reading: Reading, status: str
) -> None:
    pipeline = reading.pipeline
    reading.drop("deleted")
    pipeline.index(KEY)
    pipeline.bucket.delete(KEY)
    reading.read()
    reading.handle()

    reading.drop("mended")

    document = reading.document()
    assert (set(document.text_ids), document.indexed_at) == ({reading.text_id()}, None)
    pipeline.bedrock.becomes(document.document_id, status, "a reason")
    pipeline.execute()
    document = reading.document()
    assert (document.status, document.lingering) == (status.lower(), False)
    assert STILL_ANSWERS not in str(document.status_reason)
    assert bool(pipeline.bedrock.held) == (status == "INDEXED")
    assert reading.texts_of() == {reading.text_id()}
