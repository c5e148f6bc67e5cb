"""
How soon a person sees what an agent's model says.

    make bench-streaming

The model is an OpenAI-compatible endpoint of this process, behind the simulator: it waits, and then
sends a word each 50 milliseconds, and notes when. A browser's part is played by a client that asks
for what is new as the page does (chat.js leaves that to htmx): at once, and then after as many
seconds as the page was told. Between the two lie the runner with Strands, its writes to the
stand-in for DynamoDB, the console, and half a look's pause on average.

Measured are the first word of an answer and each thirtieth after it, which comes with what is
written four times a second (stackroom.agents.runner).
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

import httpx2

from benchmarks.console import signed_in
from benchmarks.serving import NotMeasured, measure, percentile, print_machine, serving, verdict

AIM_MILLISECONDS = 300.0
ANSWERS, WORDS, EACH, SECONDS = 20, 60, 30, 0.05
SPEED = 20


class Speaker:
    """`said` is when each word of the answer went out."""

    def __init__(self) -> None:
        self.said: list[float] = []

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        time.sleep(0.5)
        for number in range(WORDS):
            self.said.append(time.perf_counter())
            delta = {"content": f"word{number} "}
            told = {"choices": [{"delta": delta, "finish_reason": None}]}
            handler.wfile.write(f"data: {json.dumps(told)}\n\n".encode())
            handler.wfile.flush()
            time.sleep(SECONDS)
        handler.wfile.write(b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n')


@contextmanager
def speaking() -> Iterator[tuple[Speaker, str]]:
    speaker = Speaker()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            speaker.answer(self)

        def log_message(self, *_: Any) -> None:
            """What is measured is told elsewhere."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield speaker, f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def main() -> None:
    print_machine()
    with speaking() as (speaker, base_url):
        model = {"STACKROOM_OPENAI_BASE_URL": base_url, "STACKROOM_OPENAI_MODEL": "speaker"}
        with (
            patch.dict("os.environ", model),
            serving(SPEED) as instance,
            signed_in(instance) as browser,
        ):
            report(speaker, browser)


def report(speaker: Speaker, browser: httpx2.Client) -> None:
    agent = agent_of(browser)
    first, later = list[float](), list[float]()
    for _ in range(ANSWERS):
        speaker.said.clear()
        seen = watched(browser, agent)
        delays = {word: (at - speaker.said[word]) * 1000 for word, at in seen.items()}
        first.append(delays[0])
        later += [delay for word, delay in delays.items() if word]
    print(f"\n{'milliseconds behind the model':32}{'p50':>9}{'p99':>9}")
    for name, took in (("the first word", first), (f"each {EACH}th after it", later)):
        p50, p99 = (percentile(took, each) for each in (50, 99))
        aim = f"   aim p50 below {AIM_MILLISECONDS:g}: {verdict(p50 < AIM_MILLISECONDS)}"
        told = aim if took is first else ""
        print(f"{name:32}{p50:9.1f}{p99:9.1f}{told}")


def agent_of(browser: httpx2.Client) -> str:
    """Its path."""
    answer = browser.post("/api/agents", json={"name": "Speaker"}, headers=token(browser))
    if answer.status_code != 201:
        raise NotMeasured(f"the agent was refused: {answer.text}")
    return f"/agents/{answer.json()['data']['agent']['id']}"


def token(browser: httpx2.Client) -> dict[str, str]:
    page = browser.get("/agents").text
    return {"X-CSRF-Token": re.findall(r'name="csrf-token" content="(.*?)"', page)[0]}


def watched(browser: httpx2.Client, agent: str) -> dict[int, float]:
    """When each word that counts was there, of one question."""
    asked = browser.post(f"{agent}/chat", data={"message": "Speak."}, headers=token(browser))
    text = browser.get(asked.headers["location"]).text
    seen: dict[int, float] = {}
    deadline = time.monotonic() + 60
    while 'class="answer said"' not in text:
        if time.monotonic() > deadline:
            raise NotMeasured("there was no answer within a minute")
        [(path, seconds)] = re.findall(
            r'hx-get="(\S+/part\?\S+)" hx-trigger="load delay:(.+?)s', text
        )
        time.sleep(float(seconds))
        text = browser.get(unescape(path), headers={"HX-Request": "true"}).text
        now = time.perf_counter()
        for word in range(0, WORDS, EACH):
            if word not in seen and f"word{word} " in text.replace("</p>", " "):
                seen[word] = now
    return seen


if __name__ == "__main__":
    measure(main)
