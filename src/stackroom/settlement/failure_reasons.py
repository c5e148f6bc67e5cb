"""Which files a job's failure reasons name."""

import re
from collections.abc import Iterable
from urllib.parse import quote

_END = r"(?=$|[,;\]'\"\s]|\.(?:\s|$))"


def reasons_by_uri(uris: Iterable[str], reasons: Iterable[str]) -> dict[str, str]:
    """
    The reason that names each URI, of those that any names.

    Give all URIs that there are, not just those of interest: `s3://b/a.txt copy.txt` begins with
    another document's name, and only the longest that fits is meant. A reason that files share
    lists them all at its end; nobody needs to read the others' names.
    """
    reasons = list(reasons)
    if not reasons:
        return {}
    spelled = {spelling: uri for uri in uris for spelling in (quote(uri, safe=":/"), uri)}
    longest_first = sorted(spelled, key=len, reverse=True)
    named = re.compile(f"({'|'.join(map(re.escape, longest_first))}){_END}")
    found: dict[str, str] = {}
    for reason in reasons:
        for match in named.finditer(reason):
            found.setdefault(spelled[match[1]], reason.partition(" [Files:")[0])
    return found
