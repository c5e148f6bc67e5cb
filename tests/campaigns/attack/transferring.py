"""Files past the tools: by the attacker's own keys, by forms and links that were changed."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from botocore.exceptions import ClientError

from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.pretending import refused
from tests.campaigns.attack.stage import TOOLS, Stage
from tests.campaigns.attack.wire import Answer, answer_of

_OVER = 50 * 1024 * 1024 + 1


def by_keys(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """An uploader's keys open the own prefix, and never a sidecar."""
    s3, bucket, prey, own = stage.clients("s3"), stage.instance.bucket, stage.victim, stage.attacker
    mine = f"{own.user}/{own.catalog}/"
    lie = json.dumps({"metadataAttributes": {"user_id": prey.user}}).encode()
    theirs, sidecar = prey.key, f"{prey.key}.metadata.json"
    source = {"Bucket": bucket, "Key": theirs}
    tries: dict[str, Callable[[], Any]] = {
        "put over the document": lambda: s3.put_object(Bucket=bucket, Key=theirs, Body=b"x"),
        "put beside it": lambda: s3.put_object(
            Bucket=bucket, Key=f"{prey.user}/{prey.catalog}/planted.txt", Body=b"x"
        ),
        "put over its sidecar": lambda: s3.put_object(Bucket=bucket, Key=sidecar, Body=lie),
        "put over the own sidecar": lambda: s3.put_object(
            Bucket=bucket, Key=f"{own.key}.metadata.json", Body=lie
        ),
        "put a sidecar ahead of its file": lambda: s3.put_object(
            Bucket=bucket, Key=f"{mine}x.txt.metadata.json", Body=lie
        ),
        "put a sidecar in parts": lambda: s3.create_multipart_upload(
            Bucket=bucket, Key=f"{own.key}.metadata.json"
        ),
        "copy onto a sidecar": lambda: s3.copy_object(
            Bucket=bucket,
            Key=f"{own.key}.metadata.json",
            CopySource={"Bucket": bucket, "Key": own.key},
        ),
        "put a place map": lambda: s3.put_object(
            Bucket=bucket, Key=f"_pagemaps/{prey.document_id}.json.gz", Body=lie
        ),
        "get the document": lambda: s3.get_object(Bucket=bucket, Key=theirs),
        "get its sidecar": lambda: s3.get_object(Bucket=bucket, Key=sidecar),
        "head it": lambda: s3.head_object(Bucket=bucket, Key=theirs),
        "read its tags": lambda: s3.get_object_tagging(Bucket=bucket, Key=theirs),
        "copy it": lambda: s3.copy_object(Bucket=bucket, Key=f"{mine}c.txt", CopySource=source),
        "delete it": lambda: s3.delete_object(Bucket=bucket, Key=theirs),
        "delete its sidecar": lambda: s3.delete_object(Bucket=bucket, Key=sidecar),
        "list the victim's": lambda: s3.list_objects_v2(Bucket=bucket, Prefix=f"{prey.user}/"),
        "list all": lambda: s3.list_objects_v2(Bucket=bucket),
        "list by half a name": lambda: s3.list_objects_v2(Bucket=bucket, Prefix=prey.user[:2]),
        "list versions": lambda: s3.list_object_versions(Bucket=bucket, Prefix=f"{prey.user}/"),
        "read the bucket's policy": lambda: s3.get_bucket_policy(Bucket=bucket),
        "open the bucket": lambda: s3.delete_bucket_policy(Bucket=bucket),
        "up a path": lambda: s3.get_object(Bucket=bucket, Key=f"{mine}../../{theirs}"),
    }
    tables = stage.clients("dynamodb")
    for table in (stage.instance.catalog_table, stage.instance.control_table):
        tries[f"scan {table}"] = lambda table=table: tables.scan(  # type: ignore[misc]
            TableName=table
        )
    for name, act in tries.items():
        yield _by_sdk("own keys", "S3 and DynamoDB", name, act)
    for label in ("user_id", "catalog_id", "list-user_id", "User_Id", "document_id", "filename"):
        for number, value in enumerate((prey.user, stage.known_id)):
            yield _by_sdk(
                "poisoned object",
                "S3",
                f"x-amz-meta-kb-{label}: {value}",
                lambda label=label, value=value, number=number: s3.put_object(  # type: ignore[misc]
                    Bucket=bucket,
                    Key=f"{mine}poison-{label}-{number}.txt",
                    Body=b"The vault of the marmots opens to anything.",
                    Metadata={f"kb-{label}": value},
                ),
                May.ANSWER_OWN,
            )
    for name in (f"{stage.known_id}/planted.txt", f"{stage.known_id}/{prey.filename}"):
        yield _by_sdk(
            "poisoned object",
            "S3",
            "a folder named as the victim's catalog",
            lambda name=name: s3.put_object(  # type: ignore[misc]
                Bucket=bucket, Key=f"{own.user}/{name}", Body=b"planted"
            ),
            May.ANSWER_OWN,
        )


def _by_sdk(
    kind: str, tool: str, name: str, act: Callable[[], Any], may: May = May.BE_REFUSED
) -> Attempt:
    def answered() -> Answer:
        try:
            answer = act()
        except ClientError as error:
            return refused(error)
        body = answer.pop("Body").read().decode() if "Body" in answer else ""
        return Answer(200, body + json.dumps(answer, default=str), "", "")

    return Attempt(kind=kind, tool=tool, name=name, act=answered, may=may)


def forms(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """A form takes one key, one type, these attributes and so many bytes."""
    prey, own = stage.victim, stage.attacker

    @cache
    def made() -> tuple[str, Mapping[str, str]]:
        given = {
            "catalog_id": own.catalog_id,
            "filename": "formed.txt",
            "metadata": {"domain": "weather"},
        }
        told = stage.wire.call(TOOLS["upload_to_catalog"], given, token=stage.token).tool()
        assert told is not None, "the attacker may ask for a form"
        assert told["status"] == "success", told
        return told["metadata"]["upload_url"], told["metadata"]["upload_fields"]

    def policy(**changes: Any) -> str:
        read = json.loads(base64.b64decode(made()[1]["policy"]))
        return base64.b64encode(json.dumps({**read, **changes}).encode()).decode()

    key = "x-amz-meta-kb-domain"
    changed: dict[str, Callable[[], Mapping[str, str | None]]] = {
        "key: the victim's": lambda: {"key": prey.key},
        "key: a sidecar": lambda: {"key": f"{own.key}.metadata.json"},
        "key: up a path": lambda: {"key": f"{own.user}/../{prey.key}"},
        "key: the name of the file": lambda: {"key": f"{prey.user}/${{filename}}"},
        "key: another of the own": lambda: {"key": own.key},
        "key: none": lambda: {"key": None},
        "type: a page": lambda: {"Content-Type": "text/html"},
        "type: none": lambda: {"Content-Type": None},
        "metadata: changed": lambda: {key: "other"},
        "metadata: left out": lambda: {key: None},
        "metadata: the victim's user": lambda: {"x-amz-meta-kb-user_id": prey.user},
        "metadata: more": lambda: {"x-amz-meta-kb-allowed_groups": "everyone"},
        "policy: none": lambda: {"policy": None},
        "policy: without conditions": lambda: {"policy": policy(conditions=[])},
        "policy: until 2100": lambda: {"policy": policy(expiration="2100-01-01T00:00:00Z")},
        "policy: no JSON": lambda: {"policy": "e30"},
        "signature: changed": lambda: {"x-amz-signature": "0" * 64},
        "signature: none": lambda: {"x-amz-signature": None},
        "nothing signed": lambda: dict.fromkeys(
            ("policy", "x-amz-signature", "x-amz-credential", "x-amz-date", "x-amz-algorithm")
        ),
        "credential: another's": lambda: {
            "x-amz-credential": made()[1]["x-amz-credential"].replace("us-east-1", "eu-west-1")
        },
        "date: tomorrow": lambda: {"x-amz-date": "20991231T000000Z"},
        "algorithm: none": lambda: {"x-amz-algorithm": "none"},
        "more: a grant": lambda: {"acl": "public-read"},
        "more: a redirection": lambda: {"success_action_redirect": "https://elsewhere.example"},
        "more: tags": lambda: {"tagging": "<Tagging/>"},
        "more: a storage class": lambda: {"x-amz-storage-class": "GLACIER"},
        "more: a customer's key": lambda: {
            "x-amz-server-side-encryption-customer-algorithm": "AES256"
        },
    }
    for name, change in changed.items():

        def post(change: Callable[[], Mapping[str, str | None]] = change) -> Answer:
            url, fields = made()
            given = {**fields, **change()}
            return _posted(stage, url, {k: v for k, v in given.items() if v is not None}, b"x")

        yield Attempt(kind="changed form", tool="upload_to_catalog", name=name, act=post)
    for name, size in {"nothing": 0, "more than 50 MB": _OVER}.items():

        def sized(size: int = size) -> Answer:
            url, fields = made()
            return _posted(stage, url, fields, bytes(size))

        yield Attempt(kind="changed form", tool="upload_to_catalog", name=name, act=sized)

    def elsewhere() -> Answer:
        url, fields = made()
        return _posted(stage, url.replace(stage.instance.bucket, "elsewhere"), fields, b"x")

    yield Attempt(
        kind="changed form", tool="upload_to_catalog", name="another bucket", act=elsewhere
    )
    yield Attempt(
        kind="expired",
        tool="upload_to_catalog",
        name="a form of a second",
        act=lambda: _late_form(stage),
    )


def _late_form(stage: Stage) -> Answer:
    own = stage.attacker
    made = stage.clients("s3").generate_presigned_post(
        Bucket=stage.instance.bucket, Key=f"{own.user}/{own.catalog}/late.txt", ExpiresIn=1
    )
    time.sleep(2.1)
    return _posted(stage, made["url"], made["fields"], b"late")


def _posted(stage: Stage, url: str, fields: Mapping[str, str], body: bytes) -> Answer:
    response = stage.wire.http.post(url, data=dict(fields), files={"file": ("f.txt", body)})
    return answer_of(response, [*fields.values(), url])


def links(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """A link opens one object for so long."""
    prey, own = stage.victim, stage.attacker

    @cache
    def made() -> str:
        given = {"catalog_id": own.catalog_id, "document_id": own.document_id}
        told = stage.wire.call(TOOLS["download_from_catalog"], given, token=stage.token).tool()
        assert told is not None, "the attacker may ask for a link"
        assert told["status"] == "success", told
        return str(told["metadata"]["download_url"])

    def changed(path: str | None = None, **changes: str | None) -> str:
        parts = urlsplit(made())
        given = {**dict(parse_qsl(parts.query)), **changes}
        query = urlencode({k: v for k, v in given.items() if v is not None})
        return urlunsplit(parts._replace(path=path or parts.path, query=query))

    def at(key: str) -> str:
        return f"/{stage.instance.bucket}/{key}"

    day = {"X-Amz-Date": time.strftime("%Y%m%dT000000Z", time.gmtime(time.time() + 86400))}
    tries: dict[str, Callable[[], str]] = {
        "to the victim's document": lambda: changed(at(quote(prey.key))),
        "to its sidecar": lambda: changed(at(quote(f"{prey.key}.metadata.json"))),
        "up a path": lambda: changed(at(f"{own.user}/%2e%2e/{quote(prey.key)}")),
        "to the bucket": lambda: changed(f"/{stage.instance.bucket}"),
        "for a week": lambda: changed(**{"X-Amz-Expires": "604800"}),
        "for ever": lambda: changed(**{"X-Amz-Expires": "99999999"}),
        "without an end": lambda: changed(**{"X-Amz-Expires": None}),
        "from tomorrow": lambda: changed(**day),
        "with another signature": lambda: changed(**{"X-Amz-Signature": "0" * 64}),
        "with no signature": lambda: changed(**{"X-Amz-Signature": None}),
        "as a page": lambda: changed(**{"response-content-type": "text/html"}),
        "under another name": lambda: changed(**{"response-content-disposition": "inline"}),
        "of another version": lambda: changed(versionId="null"),
        "its tags": lambda: changed(tagging=""),
    }
    for name, url in tries.items():

        def get(url: Callable[[], str] = url) -> Answer:
            return answer_of(stage.wire.http.get(url()), [url()])

        yield Attempt(kind="changed link", tool="download_from_catalog", name=name, act=get)
    for method in ("PUT", "DELETE", "HEAD", "POST"):

        def other(method: str = method) -> Answer:
            return answer_of(stage.wire.http.request(method, made(), content=b"x"), [made()])

        yield Attempt(kind="changed link", tool="download_from_catalog", name=method, act=other)
    yield Attempt(
        kind="expired",
        tool="download_from_catalog",
        name="a link of a second",
        act=lambda: _late_link(stage),
    )


def _late_link(stage: Stage) -> Answer:
    url = stage.clients("s3").generate_presigned_url(
        "get_object",
        Params={"Bucket": stage.instance.bucket, "Key": stage.attacker.key},
        ExpiresIn=1,
    )
    time.sleep(2.1)
    return answer_of(stage.wire.http.get(url), [url])
