"""Files written, and links for others to write and read them; S3 itself is asked in tests/e2e."""

import base64
import json
import urllib.parse
from collections.abc import Iterator
from typing import Any

import pytest

from stackroom.aws import session
from stackroom.aws.s3.presigned_transfers import S3Transfers
from tests.aws.stores import BUCKET, ENVIRONMENT
from tests.workflow.functions import forget_clients

KEY = "alice/cat-1/Größe.txt"


@pytest.fixture
def transfers(s3: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Transfers]:
    """Transfers with the client that functions have, since it decides how links are signed."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    forget_clients()
    yield S3Transfers(client=session.client("s3"), bucket=BUCKET)
    forget_clients()


def put(transfers: S3Transfers, body: bytes, *, replace: bool = False) -> str | None:
    return transfers.put(
        KEY, body, content_type="text/plain", attributes={"kb-domain": "hr"}, replace=replace
    )


def test_file_is_stored_with_attributes_and_replaced_only_on_request(
    transfers: S3Transfers, s3: Any
) -> None:
    etag = put(transfers, b"first")
    kept = put(transfers, b"second")
    found = s3.get_object(Bucket=BUCKET, Key=KEY)
    replaced = put(transfers, b"second", replace=True)

    assert (found["ETag"], found["Body"].read()) == (f'"{etag}"', b"first")
    assert (found["ContentType"], found["Metadata"]) == ("text/plain", {"kb-domain": "hr"})
    assert kept is None
    assert replaced is not None
    assert s3.get_object(Bucket=BUCKET, Key=KEY)["Body"].read() == b"second"


def test_the_policy_of_a_form_names_everything_that_is_posted(transfers: S3Transfers) -> None:
    form = transfers.form(
        KEY,
        content_type="text/plain",
        attributes={"kb-domain": "hr"},
        max_bytes=10,
        seconds=900,
    )

    policy = json.loads(base64.b64decode(form.fields["policy"]))
    exact = {
        name: value
        for each in policy["conditions"]
        if isinstance(each, dict)
        for name, value in each.items()
    }
    sent = {name: value for name, value in form.fields.items() if name != "policy"}
    del sent["x-amz-signature"]
    assert ["content-length-range", 1, 10] in policy["conditions"]
    assert exact == {**sent, "bucket": BUCKET}
    assert (sent["key"], sent["Content-Type"], sent["x-amz-meta-kb-domain"]) == (
        KEY,
        "text/plain",
        "hr",
    )


def test_no_name_breaks_out_of_a_download_s_header(transfers: S3Transfers) -> None:
    url = transfers.link(KEY, filename='a";\r\nSet-Cookie: x.txt', seconds=900)

    asked = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)
    assert asked["response-content-disposition"] == [
        'attachment; filename="a_;__Set-Cookie: x.txt"; '
        "filename*=UTF-8''a%22%3B%0D%0ASet-Cookie%3A%20x.txt"
    ]
    assert asked["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]


@pytest.fixture
def no_clients() -> Iterator[None]:
    forget_clients()
    yield
    forget_clients()


def addresses() -> set[str]:
    """Return the address of a form and the beginning of a link, made by the functions' client."""
    transfers = S3Transfers(client=session.client("s3"), bucket=BUCKET)
    form = transfers.form(KEY, content_type="text/plain", attributes={}, max_bytes=10, seconds=900)
    link = transfers.link(KEY, filename="x.txt", seconds=900)
    return {form.url.rstrip("/"), link.partition("/alice/")[0]}


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
def test_form_and_link_name_the_region_s_endpoint(
    region: str, no_clients: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)

    assert addresses() == {f"https://{BUCKET}.s3.{region}.amazonaws.com"}
