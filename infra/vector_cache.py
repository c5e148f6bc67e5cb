"""Where the vectors of questions are kept for all functions that embed some: from the context."""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

# What src/stackroom/aws/redis/redis_url.py takes, but for a user and a password.
_URL = re.compile(r"rediss?://([a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(/[0-9]{0,4})?")
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")
_SECURITY_GROUP = re.compile(r"sg-[0-9a-f]{8,17}")
# https://docs.aws.amazon.com/lambda/latest/api/API_VpcConfig.html
_MOST_SUBNETS, _MOST_SECURITY_GROUPS = 16, 5


@dataclass(frozen=True, kw_only=True)
class VectorCache:
    """Valkey or Redis, and where in a VPC the functions stand that reach it; nowhere if empty."""

    redis_url: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]

    @classmethod
    def from_context(cls, app: cdk.App) -> Self | None:
        url = _url(app)
        subnets = _ids(app, "redis_subnet_ids", _SUBNET, most=_MOST_SUBNETS)
        groups = _ids(app, "redis_security_group_ids", _SECURITY_GROUP, most=_MOST_SECURITY_GROUPS)
        named = {"redis_subnet_ids": subnets, "redis_security_group_ids": groups}
        for name, ids in named.items():
            if ids and not url:
                raise ValueError(f"context {name} {_shown(ids)!r} must stand with redis_url")
            if ids and not all(named.values()):
                raise ValueError(f"context {name} {_shown(ids)!r} must stand with the other of two")
        if not url:
            return None
        return cls(redis_url=url, subnet_ids=subnets, security_group_ids=groups)

    @property
    def environment(self) -> dict[str, str]:
        return {"REDIS_URL": self.redis_url}


def _url(app: cdk.App) -> str:
    """An error doesn't repeat it: there may be a password in it."""
    url = str(app.node.get_context("redis_url"))
    if "@" in url:
        raise ValueError(
            "context redis_url with a user or a password must be without: whoever may look at the"
            " stack or its functions would read it. Let nobody reach the cache but these functions"
            " instead, by its security group, and encrypt the way there with rediss://"
        )
    if url and not _URL.fullmatch(url):
        raise ValueError(
            "context redis_url of another form must be redis://host:port or rediss://host:port,"
            " with /number behind it for a database that isn't the first, or empty"
        )
    return url


def _ids(app: cdk.App, name: str, form: re.Pattern[str], *, most: int) -> tuple[str, ...]:
    text = str(app.node.get_context(name))
    ids = tuple(each.strip() for each in text.split(",")) if text else ()
    if not all(map(form.fullmatch, ids)):
        raise ValueError(f"context {name} {text!r} must be ids, with commas between, or empty")
    if len(ids) > most or len(set(ids)) < len(ids):
        raise ValueError(f"context {name} {text!r} must be {most} different ids at most")
    return ids


def _shown(ids: tuple[str, ...]) -> str:
    return ",".join(ids)
