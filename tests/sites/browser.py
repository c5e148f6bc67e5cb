"""
A browser for `webbrowser`, which BROWSER names: signs in as STACKROOM_TEST_USER, and goes back.

Run as a script: python browser.py ADDRESS
"""

import os
import sys

import httpx2

from tests.gateway.browser import a_browser


def main(address: str) -> None:
    with a_browser() as browser:
        answer = browser.submit(browser.open(address), user=os.environ["STACKROOM_TEST_USER"])
        # The port of the redirect is open until it has been come back to.
        httpx2.get(answer.headers["location"], timeout=60).raise_for_status()


if __name__ == "__main__":
    main(sys.argv[1])
