"""
By a job or by direct calls: which settles a round at a catalog's own data source sooner. Pure.

A job has its start and its shortest time, works through its documents one after another, and keeps
out of the knowledge base whoever wants direct calls there; so it is for work that direct calls
can't do, and for when the account's direct calls are so busy with others' work that a job is done
while they would wait (docs/decisions/0019-jobs-where-they-pay.md).
"""

from stackroom.admission.traffic import Traffic, Work
from stackroom.ports.admission import Mode

# A job must be sooner by so much: whoever comes while it runs is kept out, too, and is not known.
_WORTH = 0.75


def way(work: Work, home: str, traffic: Traffic, *, takes_direct: bool) -> Mode:
    """
    How the knowledge base `home` is to be used for that work.

    `takes_direct` is whether the data source takes direct calls for all of it: it has been synced,
    and every document has a name that a call can tell.
    """
    if not takes_direct or not (work.calls or work.large):
        return Mode.EXCLUSIVE
    # Of others each call that waits is of ten documents, and so is each of our own.
    ours = work.calls + work.large
    kept_out = traffic.calls_kept_out(home) / ours * traffic.of_job(work)
    by_job = traffic.until_done_by_job(home, work) + kept_out
    directly = traffic.until_done_directly(home, work)
    return Mode.EXCLUSIVE if by_job < directly * _WORTH else Mode.SHARED
