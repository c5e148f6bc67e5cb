"""What AWS leaves open, and what is assumed until somebody knows."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """
    Rules managed.jobs-in-account, managed.starts and filter.in; each can be turned round by an
    option of `python -m stackroom_local.simulator`.
    """

    managed_jobs_in_account: bool = False
    managed_starts_rated: bool = True
    s3_vectors_take_in: bool = True
