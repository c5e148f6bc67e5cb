"""The recipient of alarms, the monthly budget, and backups, from the CDK context."""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

from infra.contexts import text

_EMAIL = re.compile(r"|[^@\s,]{1,64}@[^@\s,]{1,255}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_MAX_BACKUP_DAYS = 36_500  # days; AWS Backup's API reference: Lifecycle


@dataclass(frozen=True, kw_only=True)
class OperationsSettings:
    alarm_email: str  # "": alarms reach only subscribers of their topic
    monthly_budget: int  # dollars, for the whole account; 0: no budget
    backup_days: int  # retention of daily backups; 0: no backups

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        email = text(app, "alarm_email", _EMAIL, "one address, or empty")
        days = _whole(app, "backup_days")
        if days > _MAX_BACKUP_DAYS:
            raise ValueError(f"context backup_days {days} must be at most {_MAX_BACKUP_DAYS}")
        return cls(
            alarm_email=email, monthly_budget=_whole(app, "monthly_budget"), backup_days=days
        )


def _whole(app: cdk.App, name: str) -> int:
    return int(text(app, name, _NUMBER, "a whole number, 0 for none"))
