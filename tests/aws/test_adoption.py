"""`stackroom adopt`: files with AWS's sidecars, of a bucket or a folder, into a user's catalog."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import boto3
import pytest

from stackroom.errors import ValidationError
from stackroom.uploads.descriptions import user_attributes
from stackroom_cli.adoption_report import adopt
from stackroom_cli.operator_documents import drop, prefix_of, settle
from stackroom_cli.output import console, create_output
from stackroom_cli.sites import adoption
from stackroom_cli.sites.file_drop import Dropped
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.local_errors import LocalModeError
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE

HR = {"metadataAttributes": {"dept": "hr", "year": 2026, "public": True, "tags": ["a", "b"]}}
TYPED = {
    "metadataAttributes": {
        "dept": {"value": {"type": "STRING", "stringValue": "hr"}, "includeForEmbedding": True},
        "signed": "2026-03-01",
        "ort": "Köln",
    }
}
LARGE = {"metadataAttributes": {"text": "x" * 1000}}
FILES = {
    "handbook.pdf": b"leave",
    "handbook.pdf.metadata.json": json.dumps(HR).encode(),
    "2026/typed.pdf": b"typed",
    "2026/typed.pdf.metadata.json": json.dumps(TYPED).encode(),
    "plain.txt": b"plain",
    "large.txt": b"large",
    "large.txt.metadata.json": json.dumps(LARGE).encode(),
    "empty.txt": b"",
    "slides.pptx": b"slides",
    "slides.pptx.metadata.json": json.dumps(HR).encode(),
    ".DS_Store": b"junk",
    "gone.pdf.metadata.json": json.dumps(HR).encode(),
}
ATTRIBUTES = {
    "alice/hr/handbook.pdf": HR["metadataAttributes"],
    "alice/hr/2026/typed.pdf": {
        "dept": "hr",
        "signed": "2026-03-01",
        "signed_ts": 1772323200,
        "ort": "Köln",
    },
    "alice/hr/plain.txt": {},
}

Adopt = Callable[..., dict[str, Any]]


@pytest.fixture
def site(s3: Any, dynamodb: Any) -> Site:
    there = {"s3": s3, "dynamodb": dynamodb}
    made = SimpleNamespace(
        bucket=BUCKET,
        catalog_table=CATALOG_TABLE,
        control_table=CONTROL_TABLE,
        speed=1.0,
        client=lambda service: there.get(service) or boto3.client(service),
    )
    made.now = lambda: made
    return cast(Site, made)


@pytest.fixture(params=["bucket", "folder"])
def source(request: pytest.FixtureRequest, s3: Any, tmp_path: Path) -> str:
    if request.param == "bucket":
        s3.create_bucket(Bucket="theirs")
        for name, content in FILES.items():
            s3.put_object(Bucket="theirs", Key=f"docs/{name}", Body=content)
        s3.put_object(Bucket="theirs", Key="docs2/other.txt", Body=b"of another folder")
        return "s3://theirs/docs"
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return str(tmp_path)


@pytest.fixture
def run(site: Site, capsys: pytest.CaptureFixture[str]) -> Adopt:
    def run(source: str, *, is_applied: bool = True, moves: bool = False) -> dict[str, Any]:
        with suppress(LocalModeError):  # some are refused
            adopt(
                site,
                source,
                user="alice",
                catalog="hr",
                is_applied=is_applied,
                moves=moves,
                output=create_output(as_json=True),
            )
        return dict(json.loads(capsys.readouterr().out))

    return run


def outcomes(answer: Mapping[str, Any]) -> dict[str, str]:
    return {each["filename"]: each["outcome"] for each in answer["files"]}


def stored(s3: Any) -> dict[str, dict[str, Any]]:
    keys = [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())]
    heads = {key: s3.head_object(Bucket=BUCKET, Key=key) for key in keys}
    return {key: user_attributes(head["Metadata"]) for key, head in heads.items()}


def versions(s3: Any) -> list[str]:
    return [each["VersionId"] for each in s3.list_object_versions(Bucket=BUCKET)["Versions"]]


def test_dry_run_reports_the_plan_and_changes_nothing(run: Adopt, source: str, s3: Any) -> None:
    answer = run(source, is_applied=False, moves=True)

    assert outcomes(answer) == {
        "handbook.pdf": "to_adopt",
        "2026/typed.pdf": "to_adopt",
        "plain.txt": "to_adopt",
        "large.txt": "refused",
        "empty.txt": "refused",
    }
    reasons = {each["filename"]: each["reason"] for each in answer["files"]}
    assert "the attributes are too large" in reasons["large.txt"]
    assert reasons["empty.txt"] == "the file is empty"
    assert (answer["not_taken"], answer["left_out"]) == (["slides.pptx"], [".DS_Store"])
    assert answer["sidecars_alone"] == ["gone.pdf.metadata.json"]
    assert stored(s3) == {}


def test_files_get_their_attributes_and_a_second_time_nothing_is_done(
    run: Adopt, source: str, s3: Any
) -> None:
    first = run(source)
    before = versions(s3)
    second = run(source)

    assert list(outcomes(first).values()).count("adopted") == 3
    assert stored(s3) == ATTRIBUTES
    assert list(outcomes(second).values()).count("present") == 3
    assert versions(s3) == before
    found = s3.get_object(Bucket=BUCKET, Key="alice/hr/handbook.pdf")
    assert (found["Body"].read(), found["ContentType"]) == (b"leave", "application/pdf")


@pytest.mark.parametrize("moves", [False, True])
def test_run_that_was_cut_off_is_completed_by_the_next(
    run: Adopt, source: str, s3: Any, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(adoption, "_AT_ONCE", 1)
        kind = adoption.BucketSource if source.startswith("s3:") else adoption.FolderSource
        put, done = kind.put, list[str]()

        def put_one(self: Any, client: Any, file: adoption.SourceFile, **target: Any) -> None:
            if done:
                raise KeyboardInterrupt
            put(self, client, file, **target)
            done.append(file.name)

        patched.setattr(kind, "put", put_one)
        with pytest.raises(KeyboardInterrupt):
            run(source, moves=moves)
    assert len(stored(s3)) == 1

    run(source, moves=moves)

    assert stored(s3) == ATTRIBUTES


def test_move_leaves_at_the_source_only_what_was_not_adopted(
    run: Adopt, source: str, s3: Any
) -> None:
    run(source, moves=True)

    if source.startswith("s3:"):
        listed = s3.list_objects_v2(Bucket="theirs", Prefix="docs/")["Contents"]
        left = {each["Key"].removeprefix("docs/") for each in listed}
    else:
        there = Path(source)
        left = {str(each.relative_to(there)) for each in there.rglob("*") if each.is_file()}
    assert left == {name for name in FILES if not name.startswith(("hand", "2026", "plain"))}
    assert stored(s3) == ATTRIBUTES


def test_other_file_of_that_name_is_never_replaced(run: Adopt, source: str, s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="alice/hr/plain.txt", Body=b"alice's own")

    answer = run(source)

    assert outcomes(answer)["plain.txt"] == "refused"
    found = s3.get_object(Bucket=BUCKET, Key="alice/hr/plain.txt")
    assert found["Body"].read() == b"alice's own"


def test_file_that_changed_at_the_source_replaces_what_was_adopted(
    run: Adopt, s3: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one")
    run(str(tmp_path))
    (tmp_path / "a.txt").write_text("other")

    assert outcomes(run(str(tmp_path))) == {"a.txt": "adopted"}
    assert s3.get_object(Bucket=BUCKET, Key="alice/hr/a.txt")["Body"].read() == b"other"


def test_names_that_look_the_same_are_one_document_or_refused(
    run: Adopt, s3: Any, tmp_path: Path
) -> None:
    for name in ("März.txt", "Ma\u0308rz.txt"):
        (tmp_path / name).write_text(name)

    assert sorted(outcomes(run(str(tmp_path))).values()) == ["adopted", "refused"]
    assert len(stored(s3)) == 1


@pytest.mark.parametrize("wrong", ["", "/no/such/folder", "s3://", f"s3://{BUCKET}/bob"])
def test_invalid_source_is_refused(run: Adopt, wrong: str) -> None:
    with pytest.raises(ValidationError, match=r"neither a local folder nor|Stackroom's own bucket"):
        run(wrong)


def test_dropped_file_whose_name_is_not_utf8_is_refused_alone(
    site: Site, s3: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (b"bad\xff.txt", b"good.txt"):
        (tmp_path / os.fsdecode(name)).write_text("x")

    with pytest.raises(LocalModeError, match="1 of 2 files"):
        drop(site, [tmp_path], user="alice", catalog="hr", wait=False, output=create_output(True))

    answer = json.loads(capsys.readouterr().out)
    assert [each["dropped"] for each in answer["files"]] == [False, True]
    assert "not UTF-8" in answer["files"][0]["reason"]


@pytest.mark.parametrize("later", [b"later", None])
def test_drop_ends_when_its_file_is_replaced_or_deleted(
    site: Site, s3: Any, capsys: pytest.CaptureFixture[str], later: bytes | None
) -> None:
    key = "alice/hr/a.txt"
    put = s3.put_object(Bucket=BUCKET, Key=key, Body=b"first")
    dropped = Dropped(key=key, etag="first", version_id=put["VersionId"], at=datetime.now(UTC))
    if later is None:
        s3.delete_object(Bucket=BUCKET, Key=key)
    else:
        s3.put_object(Bucket=BUCKET, Key=key, Body=later)

    assert settle(site, [dropped], out=console(), user="alice", seconds=2) == []

    assert f"not searchable: {key}: somebody replaced or deleted it" in capsys.readouterr().out


def test_files_for_a_renamed_catalog_go_to_the_folder_of_its_first_name(
    site: Site, s3: Any
) -> None:
    creation = SiteServices(site).stores.creation
    catalog = creation.create("alice", "Travel")
    creation.update("alice", catalog.catalog_id, name="Trips")

    assert prefix_of(site, "alice", "trips") == catalog.s3_prefix
