"""
A user's own keys to the bucket: those of an IAM user with the deployed uploader policy.

On AWS the identity pool gives a signed-in person credentials with the tag `user_id`, and the policy
opens that prefix. ministack 1.5.33 leaves a policy's variables as they are, so the tag's value is
filled in here, as IAM does it for each request:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
"""

import contextlib
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bedrock_kb_simulator.access_keys import AccessKey, write_private
from stackroom_local.deployment.cloudformation import CloudFormation
from stackroom_local.state import Instance

_TAG = "${aws:PrincipalTag/user_id}"
_KEPT = TypeAdapter(dict[str, AccessKey])


@dataclass(frozen=True)
class UserKeys:
    instance: Instance

    def of(self, user_id: str) -> AccessKey:
        """
        Return the user's key with the rights deployed now; the same key as long as ministack knows
        it.
        """
        name = _iam_name(user_id)
        with contextlib.suppress(self._iam.exceptions.EntityAlreadyExistsException):
            self._iam.create_user(UserName=name, Tags=[{"Key": "user_id", "Value": user_id}])
        self._iam.put_user_policy(
            UserName=name, PolicyName="uploader", PolicyDocument=self._policy(user_id)
        )
        kept = self._kept()
        listed = self._iam.list_access_keys(UserName=name)["AccessKeyMetadata"]
        keys = kept.get(user_id)
        if keys is None or keys.access_key_id not in {each["AccessKeyId"] for each in listed}:
            keys = self._made(name)
            body = _KEPT.dump_json({**kept, user_id: keys}, indent=2)
            write_private(self.instance.state_dir / "keys.json", body)
        return keys

    @property
    def _iam(self) -> Any:
        return self.instance.client("iam")

    def _made(self, name: str) -> AccessKey:
        made = self._iam.create_access_key(UserName=name)["AccessKey"]
        return AccessKey(
            access_key_id=made["AccessKeyId"], secret_access_key=made["SecretAccessKey"]
        )

    def _policy(self, user_id: str) -> str:
        stacks = CloudFormation.of(self.instance.client)
        project = self.instance.control_table.removesuffix("-kb-control")
        arn = stacks.outputs([f"{project}-data"])["UploaderPolicyArn"]
        version = self._iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        found = self._iam.get_policy_version(PolicyArn=arn, VersionId=version)
        # No user id has a character that means something in JSON or in a pattern.
        return json.dumps(found["PolicyVersion"]["Document"]).replace(_TAG, user_id)

    def _kept(self) -> dict[str, AccessKey]:
        """Return the keys by user. They are stored because IAM returns a secret only once."""
        try:
            return _KEPT.validate_json((self.instance.state_dir / "keys.json").read_bytes())
        except (FileNotFoundError, ValidationError):
            return {}


def _iam_name(user_id: str) -> str:
    """
    Return a short name, since a user id may exceed the 64 characters of an IAM user's [API:
    CreateUser].
    """
    return f"stackroom-{hashlib.sha256(user_id.encode()).hexdigest()[:24]}"
