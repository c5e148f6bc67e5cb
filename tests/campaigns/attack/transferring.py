"""Files past the tools: by the attacker's own keys, by forms and links that were changed."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from random import Random
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from botocore.exceptions import ClientError

from stackroom.model.keys import SIDECAR_SUFFIX, text_folder
from tests.campaigns.attack.naming import lookalikes
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.pretending import refused
from tests.campaigns.attack.stage import SHARED_FILE, TOOLS, Stage
from tests.campaigns.attack.wire import Answer, answer_of

_OVER = 50 * 1024 * 1024 + 1


def by_keys(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """An uploader's keys open the own prefix, and never a sidecar."""
    s3, bucket, prey, own = stage.clients("s3"), stage.instance.bucket, stage.victim, stage.attacker
    mine = f"{own.user}/{own.catalog}/"
    lie = json.dumps({"metadataAttributes": {"user_id": prey.user}}).encode()
    theirs, sidecar = prey.key, f"{prey.key}.metadata.json"
    texts = text_folder(prey.user, prey.catalog_id, prey.document_id)
    tables = stage.clients("dynamodb")
    # What else they don't open, and of sidecars: tests/e2e/test_permissions.py.
    tries: dict[str, Callable[[], Any]] = {
        "put over the document": lambda: s3.put_object(Bucket=bucket, Key=theirs, Body=b"x"),
        "put over its sidecar": lambda: s3.put_object(Bucket=bucket, Key=sidecar, Body=lie),
        "put over the own sidecar": lambda: s3.put_object(
            Bucket=bucket, Key=f"{own.key}.metadata.json", Body=lie
        ),
        "put a sidecar ahead of its file": lambda: s3.put_object(
            Bucket=bucket, Key=f"{mine}x.txt.metadata.json", Body=lie
        ),
        "put a text": lambda: s3.put_object(Bucket=bucket, Key=f"{texts}{'0' * 16}.md", Body=lie),
        "list its texts": lambda: s3.list_objects_v2(Bucket=bucket, Prefix=texts),
        "get the document": lambda: s3.get_object(Bucket=bucket, Key=theirs),
        "read its tags": lambda: s3.get_object_tagging(Bucket=bucket, Key=theirs),
        "delete its sidecar": lambda: s3.delete_object(Bucket=bucket, Key=sidecar),
        "list by half a name": lambda: s3.list_objects_v2(Bucket=bucket, Prefix=prey.user[:2]),
        "open the bucket": lambda: s3.delete_bucket_policy(Bucket=bucket),
        "up a path": lambda: s3.get_object(Bucket=bucket, Key=f"{mine}../../{theirs}"),
        "scan the records": lambda: tables.scan(TableName=stage.instance.catalog_table),
        "scan the selections": lambda: tables.scan(TableName=stage.instance.control_table),
    }
    for name, act in tries.items():
        yield _by_sdk("own keys", "S3 and DynamoDB", name, act)
    text = b"The vault of the marmots opens to anything."
    planted = [
        (f"{mine}poison-{label}-{number}.txt", {f"kb-{label}": value})
        for label in ("user_id", "catalog_id", "list-user_id", "document_id")
        for number, value in enumerate((prey.user, stage.known_id))
    ]
    # In a folder that is named as the victim's catalog.
    planted += [(f"{own.user}/{stage.known_id}/{name}", {}) for name in ("x.txt", prey.filename)]
    for key, told in planted:
        put = partial(s3.put_object, Bucket=bucket, Key=key, Body=text, Metadata=told)
        yield _by_sdk("poisoned object", "S3", f"{key} {told}", put, May.ANSWER_OWN)


def twins(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Users, catalogs, files and sidecars that look like the victim's, put by the own keys."""
    s3, bucket, prey, own = stage.clients("s3"), stage.instance.bucket, stage.victim, stage.attacker
    lie = json.dumps({"metadataAttributes": {"user_id": prey.user}}).encode()
    text = b"The vault of the marmots opens to any word."
    own_keys = {
        f"{what} {label}": f"{own.user}/{catalog}/{name}"
        for what, file in (("file", prey.filename), ("shared file", SHARED_FILE))
        for label, catalog, name in (
            *((label, own.catalog, each) for label, each in lookalikes(file).items()),
            *((f"in {label}", each, file) for label, each in lookalikes(prey.catalog).items()),
        )
    }
    suffixes = lookalikes(SIDECAR_SUFFIX)
    refused_keys = {
        **{f"{name}'s sidecar": f"{key}{SIDECAR_SUFFIX}" for name, key in own_keys.items()},
        **{
            f"user {label}": f"{user}/{prey.catalog}/{SHARED_FILE}"
            for label, user in lookalikes(prey.user).items()
        },
    }
    own_keys |= {
        f"sidecar {label}": f"{own.key}{each}"
        for label, each in suffixes.items()
        if each != SIDECAR_SUFFIX
    }
    for keys, body, may in ((own_keys, text, May.ANSWER_OWN), (refused_keys, lie, May.BE_REFUSED)):
        for name, key in keys.items():
            put = partial(s3.put_object, Bucket=bucket, Key=key, Body=body)
            yield _by_sdk("look-alike", "S3", f"{name}: {key!a}", put, may)


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
        given = {"filename": "formed.txt", "metadata": {"domain": "weather"}}
        told = _handed_out(stage, "upload_to_catalog", given)
        return told["upload_url"], told["upload_fields"]

    def policy(**changes: Any) -> str:
        read = json.loads(base64.b64decode(made()[1]["policy"]))
        return base64.b64encode(json.dumps({**read, **changes}).encode()).decode()

    key = "x-amz-meta-kb-domain"
    changed: dict[str, Callable[[], Mapping[str, str | None]]] = {
        "key: the victim's": lambda: {"key": prey.key},
        "key: a sidecar": lambda: {"key": f"{own.key}.metadata.json"},
        "key: the name of the file": lambda: {"key": f"{prey.user}/${{filename}}"},
        "type: a page": lambda: {"Content-Type": "text/html"},
        "metadata: changed": lambda: {key: "other"},
        "metadata: left out": lambda: {key: None},
        "metadata: the victim's user": lambda: {"x-amz-meta-kb-user_id": prey.user},
        "policy: none": lambda: {"policy": None},
        "policy: without conditions": lambda: {"policy": policy(conditions=[])},
        "policy: until 2100": lambda: {"policy": policy(expiration="2100-01-01T00:00:00Z")},
        "signature: changed": lambda: {"x-amz-signature": "0" * 64},
        "nothing signed": lambda: dict.fromkeys(
            ("policy", "x-amz-signature", "x-amz-credential", "x-amz-date", "x-amz-algorithm")
        ),
        "more: a grant": lambda: {"acl": "public-read"},
    }

    def attempt(
        name: str, fields: Callable[[], Mapping[str, str | None]], size: int = 1, bucket: str = ""
    ) -> Attempt:
        def act() -> Answer:
            url, good = made()
            there = url.replace(stage.instance.bucket, bucket) if bucket else url
            given = {**good, **fields()}
            sent = {name: value for name, value in given.items() if value is not None}
            return _posted(stage, there, sent, bytes(size))

        return Attempt(kind="changed form", tool="upload_to_catalog", name=name, act=act)

    for name, change in changed.items():
        yield attempt(name, change)
    yield attempt("nothing", dict, size=0)
    yield attempt("more than 50 MB", dict, size=_OVER)
    yield attempt("another bucket", dict, bucket="elsewhere")


def _handed_out(stage: Stage, tool: str, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the tool's form or link for the attacker's catalog."""
    arguments = {"catalog_id": stage.attacker.catalog_id, **given}
    told = stage.wire.call(TOOLS[tool], arguments, token=stage.token).tool()
    assert told is not None, "the attacker may ask for their own"
    assert told["status"] == "success", told
    return dict(told["metadata"])


def _posted(stage: Stage, url: str, fields: Mapping[str, str], body: bytes) -> Answer:
    response = stage.wire.http.post(url, data=dict(fields), files={"file": ("f.txt", body)})
    return answer_of(response, [*fields.values(), url])


def links(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """A link opens one object, to be read."""
    prey, own = stage.victim, stage.attacker

    @cache
    def made() -> str:
        told = _handed_out(stage, "download_from_catalog", {"document_id": own.document_id})
        return str(told["download_url"])

    def changed(path: str | None = None, **changes: str | None) -> str:
        parts = urlsplit(made())
        given = {**dict(parse_qsl(parts.query)), **changes}
        query = urlencode({k: v for k, v in given.items() if v is not None})
        return urlunsplit(parts._replace(path=path or parts.path, query=query))

    def at(key: str) -> str:
        return f"/{stage.instance.bucket}/{key}"

    tries: dict[str, Callable[[], str]] = {
        "to the victim's document": lambda: changed(at(quote(prey.key))),
        "up a path": lambda: changed(at(f"{own.user}/%2e%2e/{quote(prey.key)}")),
        "to the bucket": lambda: changed(f"/{stage.instance.bucket}"),
        "for a week": lambda: changed(**{"X-Amz-Expires": "604800"}),
        "without an end": lambda: changed(**{"X-Amz-Expires": None}),
        "with another signature": lambda: changed(**{"X-Amz-Signature": "0" * 64}),
        "as a page": lambda: changed(**{"response-content-type": "text/html"}),
        "of another version": lambda: changed(versionId="null"),
    }
    others: dict[str, Callable[[], str]] = dict.fromkeys(("PUT", "DELETE", "HEAD", "POST"), made)
    for name, url in {**tries, **others}.items():

        def act(name: str = name, url: Callable[[], str] = url) -> Answer:
            method = name if name in others else "GET"
            content = b"x" if name in others else None
            return answer_of(stage.wire.http.request(method, url(), content=content), [url()])

        yield Attempt(kind="changed link", tool="download_from_catalog", name=name, act=act)
