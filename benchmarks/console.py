"""
What the console's pages weigh and take.

    make bench-console

Of the first page, with every file that it loads, the bytes as they are sent to a browser that takes
gzip; and of pages the time until they are there, over one connection that is kept, with what the
stand-in for DynamoDB takes to answer: it looks through all that a catalog holds, and AWS doesn't.
The page of a catalog is asked for with a hundred documents and with ten thousand, of which one in a
hundred failed; the latter by each state, in each order, and searched.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin

import httpx2

from benchmarks.serving import (
    NotMeasured,
    measure,
    percentile,
    print_machine,
    serving,
    verdict,
)
from stackroom_local.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.gateway.browser import Browser
from tests.support.large_catalogs import filled

AIM_BYTES, AIM_MILLISECONDS = 150 * 1024, 200.0
REQUESTS, OF_CATALOGS = 200, 20
FEW, MANY = 100, 10_000
AIM_OF_MANY = 300.0  # milliseconds
WAYS = (
    "",
    "?state=failed",
    "?state=searchable",
    "?sort=name",
    "?sort=-name",
    "?sort=size",
    "?sort=-size",
    "?sort=-time",
    "?sort=-state",
    "?q=report+09",
    "?q=00.pdf&sort=-size",
    "?q=report+09900&state=failed",
)
SPEED = 20
USER = "librarian"


def main() -> None:
    print_machine()
    with serving(SPEED) as instance, signed_in(instance) as browser:
        report_weight(browser)
        services = SiteServices(instance).use_cases
        few, many = (
            filled(services, USER, f"Of {size}", size, failed=range(0, size, 100))
            for size in (FEW, MANY)
        )
        print(f"\n{'milliseconds':40}{'p50':>9}{'p99':>9}")
        report_time(browser, "the first page", "/catalogs", times=REQUESTS, aim=AIM_MILLISECONDS)
        report_time(browser, f"a catalog of {FEW:,}", f"/catalogs/{few}", times=OF_CATALOGS)
        for way in WAYS:
            report_time(
                browser,
                f"of {MANY:,} {way}",
                f"/catalogs/{many}{way}",
                times=OF_CATALOGS,
                aim=AIM_OF_MANY,
            )


@contextmanager
def signed_in(instance: Instance) -> Iterator[httpx2.Client]:
    if instance.console_url is None:
        raise NotMeasured("the console is left out of this deployment")
    with httpx2.Client(base_url=instance.console_url, timeout=120) as http:
        person = Browser(http)
        begun = http.get("/sign-in/begin")
        answer = person.submit(person.open(begun.headers["location"]), user=USER, groups="")
        http.get(answer.headers["location"])
        yield http


def report_weight(browser: httpx2.Client) -> None:
    page = browser.get("/catalogs")
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    for sheet in [each for each in files if ".css" in each]:
        # Both halves of the font, though only who has names with other letters loads the second.
        named = re.findall(r'url\("?((?!data:)[^")]+)', browser.get(sheet).text)
        files += [urljoin(sheet, each) for each in named]
    weights = {path.partition("?")[0]: weight_of(browser, path) for path in ["/catalogs", *files]}
    total = sum(weights.values())
    print(f"\n{'bytes as sent':40}")
    for path, weight in sorted(weights.items(), key=lambda each: -each[1]):
        print(f"  {path:38}{weight:9,}")
    print(f"  {'all':38}{total:9,}   aim below {AIM_BYTES:,}: {verdict(total < AIM_BYTES)}")


def weight_of(browser: httpx2.Client, path: str) -> int:
    """Of the body, before the client has unpacked it."""
    with browser.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
        if answer.status_code != 200:
            raise NotMeasured(f"{path} answered {answer.status_code}")
        return sum(map(len, answer.iter_raw()))


def report_time(
    browser: httpx2.Client, name: str, path: str, *, times: int, aim: float | None = None
) -> None:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        answer = browser.get(path)
        took.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            raise NotMeasured(f"{path} answered {answer.status_code}")
    p50, p99 = (percentile(took, each) for each in (50, 99))
    told = "" if aim is None else f"   aim p50 below {aim:g}: {verdict(p50 < aim)}"
    print(f"{name:40}{p50:9.1f}{p99:9.1f}{told}")


if __name__ == "__main__":
    measure(main)
