"""Whom alarms are sent to, what a month may cost, how long backups are kept: from the context."""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

_EMAIL = re.compile(r"[^@\s,]{1,64}@[^@\s,]{1,255}")
_LONGEST_BACKUP = 36_500  # days, of AWS Backup: its API reference, Lifecycle


@dataclass(frozen=True, kw_only=True)
class OperationsSettings:
    alarm_email: str  # "": alarms reach who subscribes to their topic
    monthly_budget: int  # dollars of the whole account; 0: there is none
    backup_days: int  # that daily backups are kept; 0: there are none

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        email = str(app.node.get_context("alarm_email"))
        if email and not _EMAIL.fullmatch(email):
            raise ValueError(f"context alarm_email {email!r} must be one address, or empty")
        days = _whole(app, "backup_days")
        if days > _LONGEST_BACKUP:
            raise ValueError(f"context backup_days {days} must be at most {_LONGEST_BACKUP}")
        return cls(
            alarm_email=email, monthly_budget=_whole(app, "monthly_budget"), backup_days=days
        )


def _whole(app: cdk.App, name: str) -> int:
    text = str(app.node.get_context(name))
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"context {name} {text!r} must be a whole number, 0 for none")
    return int(text)
