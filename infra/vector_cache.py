"""The cache of questions' vectors that all embedding functions share, from the CDK context."""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

# The format of src/stackroom/aws/redis/redis_url.py, without user and password.
_URL = re.compile(r"rediss?://([a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(/[0-9]{0,4})?")
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")
_SECURITY_GROUP = re.compile(r"sg-[0-9a-f]{8,17}")
# https://docs.aws.amazon.com/lambda/latest/api/API_VpcConfig.html
_MAX_SUBNETS, _MAX_SECURITY_GROUPS = 16, 5


@dataclass(frozen=True, kw_only=True)
class VectorCache:
    """
    A Valkey or Redis cache, and the VPC subnets of the functions that reach it; none if empty.
    """

    redis_url: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]

    @classmethod
    def from_context(cls, app: cdk.App) -> Self | None:
        url = _url(app)
        subnets = _ids(app, "redis_subnet_ids", _SUBNET, most=_MAX_SUBNETS)
        groups = _ids(app, "redis_security_group_ids", _SECURITY_GROUP, most=_MAX_SECURITY_GROUPS)
        named = {"redis_subnet_ids": subnets, "redis_security_group_ids": groups}
        for name, ids in named.items():
            if ids and not url:
                raise ValueError(f"context {name} {_join(ids)!r} must be set with redis_url")
            if ids and not all(named.values()):
                raise ValueError(f"context {name} {_join(ids)!r} must be set with the other list")
        if not url:
            return None
        return cls(redis_url=url, subnet_ids=subnets, security_group_ids=groups)

    @property
    def environment(self) -> dict[str, str]:
        return {"REDIS_URL": self.redis_url}


def _url(app: cdk.App) -> str:
    """Return the URL. Errors don't repeat it, because it may contain a password."""
    url = str(app.node.get_context("redis_url"))
    if "@" in url:
        raise ValueError(
            "context redis_url must have no user or password: everyone who can read the stack or"
            " its functions would see them. Use a security group to let only these functions"
            " reach the cache, and rediss:// to encrypt the connection"
        )
    if url and not _URL.fullmatch(url):
        raise ValueError(
            "context redis_url must be redis://host:port or rediss://host:port, with /number at the"
            " end for a database other than the first, or empty"
        )
    return url


def _ids(app: cdk.App, name: str, form: re.Pattern[str], *, most: int) -> tuple[str, ...]:
    value = str(app.node.get_context(name))
    ids = tuple(each.strip() for each in value.split(",")) if value else ()
    is_list = all(map(form.fullmatch, ids)) and len(set(ids)) == len(ids)
    if not is_list or len(ids) > most:
        allowed = f"at most {most} different ids separated by commas, or empty"
        raise ValueError(f"context {name} {value!r} must be {allowed}")
    return ids


def _join(ids: tuple[str, ...]) -> str:
    return ",".join(ids)
