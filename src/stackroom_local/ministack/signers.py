"""
Makes ministack's IAM verify every signature, including the root user's.

Version 1.5.33 also takes the key `test`, each account's number and requests without a key for root,
and verifies no signature of theirs; the secrets of functions' sessions follow from their names
alone; a form that is posted to a bucket needs no signature, and for a signed one it doesn't check
that the signer may put that key. Check a new version with tests/local/test_access_keys.py.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from ministack.core import iam_evaluator, lambda_runtime
from ministack.services import iam, lambda_svc, s3, sts

from bedrock_kb_simulator.access_keys import RootKey, new_id

_PUT = "s3:PutObject"
_OBJECT = "arn:aws:s3:::{}/{}"
_DENIED = ("AccessDenied", "Access Denied", 403)


def install(root: RootKey) -> None:
    # Who is root is asked twice: to allow everything, and to check no signature.
    for module in (iam_evaluator, sts):
        module.is_root_access_key = lambda access_key_id: access_key_id == root.access_key_id
    iam_evaluator._is_root_key = lambda _access_key_id: False
    _have_keys_follow(root)
    _have_forms_signed()


class _Keys:
    """
    The parts of a session's key in the order in which ministack asks for them, in one thread.

    First comes the id, then the secret and the token, which follow from it and the root's key.
    """

    def __init__(self, root: RootKey) -> None:
        self._root = root
        self._last = threading.local()

    def session_id(self) -> str:
        self._last.id = new_id("ASIA")
        return str(self._last.id)

    def secret(self) -> str:
        return self._root.secret_of(self._last.id)

    def token(self) -> str:
        return self._root.token_of(self._last.id)


def _have_keys_follow(root: RootKey) -> None:
    keys = _Keys(root)
    for module in (iam, sts):
        module._gen_session_access_key = keys.session_id
        module._gen_secret = keys.secret
        module._gen_session_token = keys.token
    made: Callable[[Any], dict[str, str]] = lambda_runtime.execution_credentials

    def of_function(config: Any) -> dict[str, str]:
        id_ = made(config)["AWS_ACCESS_KEY_ID"]
        secret, token = root.secret_of(id_), root.token_of(id_)
        sts._sessions[id_].update(SecretAccessKey=secret, SessionToken=token)
        return {
            "AWS_ACCESS_KEY_ID": id_,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_SESSION_TOKEN": token,
        }

    for module in (lambda_runtime, lambda_svc):
        module.execution_credentials = of_function
    created: Callable[[Any], tuple[int, Any, bytes]] = iam._create_access_key

    def of_user(parameters: Any) -> tuple[int, Any, bytes]:
        """Create a key, and replace its secret by one that follows from the root's key."""
        before = set(iam._access_keys)
        status, headers, body = created(parameters)
        for id_ in set(iam._access_keys) - before:
            key = iam._access_keys[id_]
            secret = root.secret_of(id_)
            body = body.replace(key["SecretAccessKey"].encode(), secret.encode())
            key["SecretAccessKey"] = secret
        return status, headers, body

    iam._IAM_HANDLERS["CreateAccessKey"] = of_user


def _have_forms_signed() -> None:
    """
    Check the signer of a posted form.

    A form's policy is signed, not the request, which has no key: IAM lets the request pass, and is
    asked about the signer once the form is read.
    https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
    """
    enforce: Callable[..., Any] = iam_evaluator.enforce
    signed: Callable[..., Any] = s3._enforce_signed_post_policy

    @wraps(enforce)
    def unless_form(access_key_id: str, iam_action: str, *rest: Any, **more: Any) -> Any:
        is_bucket = "/" not in more.get("resource_arn", "/")
        if not access_key_id and iam_action == _PUT and is_bucket:
            return None
        return enforce(access_key_id, iam_action, *rest, **more)

    def by_one_who_may(fields: dict[str, str], bucket: str, region: str, *more: Any) -> Any:
        if (refused := signed(fields, bucket, region, *more)) is not None:
            return refused
        signer = fields.get("x-amz-credential", "").split("/")[0] or fields["awsaccesskeyid"]
        key = _OBJECT.format(bucket, fields["key"])
        denied = enforce(signer, _PUT, "s3", region, resource_arn=key)
        return s3._error(*_DENIED) if denied else None

    iam_evaluator.enforce = unless_form
    s3._enforce_signed_post_policy = by_one_who_may
    s3._enforce_post_policy_size = lambda _policy, _size: s3._error(*_DENIED)
