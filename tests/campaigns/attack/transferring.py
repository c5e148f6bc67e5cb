"""Files past the tools, by the attacker's own keys."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from stackroom.model.keys import SIDECAR_SUFFIX, text_folder
from tests.campaigns.attack.naming import lookalikes
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.pretending import refused
from tests.campaigns.attack.stage import SHARED_FILE, Stage
from tests.campaigns.attack.wire import Answer


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
