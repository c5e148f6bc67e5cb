"""Only holders of the state directory's keys are answered."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import httpx2
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from stackroom_local.state import REGION, Instance, StateDirectory

# Whom ministack takes for the account's root by itself, and who would know another's id alone.
GUESSES = ("test", "000000000000", "AKIAIOSFODNN7EXAMPLE")
CALLS: dict[str, Callable[[Any], object]] = {
    "s3": lambda s3: s3.list_buckets(),
    "bedrock-agent": lambda bedrock: bedrock.list_knowledge_bases(),
}


def test_a_state_directory_has_a_key_of_its_own_for_its_owner_alone(tmp_path: Path) -> None:
    one, other = StateDirectory(tmp_path / "one"), StateDirectory(tmp_path / "other")
    with one.held(), other.held():
        kept = one.root_key

        assert kept == one.root_key != other.root_key
        assert kept.secret_access_key not in repr(kept)
        assert stat.S_IMODE(one.path.stat().st_mode) == 0o700
        assert stat.S_IMODE((one / "root-key.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("service", CALLS)
def test_services_refuse_guessed_keys_and_wrong_secrets(instance: Instance, service: str) -> None:
    root = instance.root_key.access_key_id

    for access_key_id in (*GUESSES, root):
        refused = _client(instance, service, access_key_id, "test")
        with pytest.raises(ClientError) as error:
            CALLS[service](refused)
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 403)
        assert error.value.response["Error"]["Code"] in {
            "InvalidAccessKeyId",
            "InvalidClientTokenId",
            "InvalidSignatureException",
            "SignatureDoesNotMatch",
            "UnrecognizedClientException",
        }
    CALLS[service](instance.client(service))


def test_unsigned_requests_are_refused(instance: Instance) -> None:
    s3 = boto3.client(
        "s3",
        endpoint_url=instance.aws_endpoint,
        region_name=REGION,
        config=Config(signature_version=UNSIGNED),
    )
    for call in (
        s3.list_buckets,
        lambda: s3.list_objects_v2(Bucket=instance.bucket),
        lambda: s3.put_object(Bucket=instance.bucket, Key="alice/a.txt"),
    ):
        with pytest.raises(ClientError, match="InvalidAccessKeyId"):
            call()
    form = httpx2.post(
        f"{instance.aws_endpoint}/{instance.bucket}",
        data={"key": "alice/form.txt"},
        files={"file": b"planted"},
    )
    assert form.status_code == 403
    for path in ("/knowledgebases/", "/_simulator/faults", "/_simulator/scripts"):
        assert httpx2.get(instance.simulator_endpoint + path).status_code == 403
        assert httpx2.post(instance.simulator_endpoint + path, json={}).status_code == 403


def test_state_directory_is_readable_by_its_owner_only(instance: Instance) -> None:
    kept = [instance.state_dir, *instance.state_dir.rglob("*")]
    kept = [each for each in kept if each.name != "bootstrap"]  # ministack makes them executable

    open_to_others = [each for each in kept if stat.S_IMODE(each.lstat().st_mode) & 0o077]
    assert len(kept) > 20
    assert open_to_others == []


def _client(
    instance: Instance, service: str, key: str, secret: str, token: str | None = None
) -> Any:
    mine = instance.client(service)
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=mine.meta.endpoint_url,
        region_name=REGION,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=Config(retries={"total_max_attempts": 1}),
    )
