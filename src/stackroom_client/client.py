"""The sync and the async client, which perform the steps of `calls`."""

import asyncio
import functools
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from contextlib import aclosing, closing
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar

import httpx

from stackroom_client.calls import Calls
from stackroom_client.errors import Unavailable
from stackroom_client.steps import Exchange, Pages, Step, Steps, Token

P = ParamSpec("P")
T = TypeVar("T")
_Single: TypeAlias = Callable[Concatenate[Calls, P], Steps[T]]
_Paged: TypeAlias = Callable[Concatenate[Calls, P], Pages[T]]
AccessToken: TypeAlias = str | Callable[[], str]
# A model may take a while to write; connecting doesn't.
_TIMEOUT = httpx.Timeout(120.0, connect=10.0)
# Overrides what a custom `http` would add or follow: the token is for the gateway only.
_PLAIN: Mapping[str, Any] = {"auth": None, "follow_redirects": False, "stream": True}

# Wrappers that turn a method of `Calls` into one of a client, with one result or many.


def _one(call: _Single[P, T]) -> Callable[Concatenate["Client", P], T]:
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        [result] = self.results(_page(call(self.calls, *args, **kwargs)))
        return result

    functools.update_wrapper(method, call)
    return method


def _many(call: _Paged[P, T]) -> Callable[Concatenate["Client", P], Generator[T]]:
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Generator[T]:
        return self.results(call(self.calls, *args, **kwargs))

    functools.update_wrapper(method, call)
    return method


def _async_one(
    call: _Single[P, T],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        results = self.results(_page(call(self.calls, *args, **kwargs)))
        [result] = [each async for each in results]
        return result

    functools.update_wrapper(method, call)
    return method


def _async_many(
    call: _Paged[P, T],
) -> Callable[Concatenate["AsyncClient", P], AsyncGenerator[T]]:
    def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T]:
        return self.results(call(self.calls, *args, **kwargs))

    functools.update_wrapper(method, call)
    return method


def _page(steps: Steps[T]) -> Pages[T]:
    """Yield a result as the only one of its page."""
    result = yield from steps
    yield [result]


class Client:
    """
    A client of the gateway's tools, on behalf of the token's user.

    `token` is a string, or a function that returns one: it is called before each request, and once
    more after a 401. Pass `http` for your own proxies, certificates and timeouts.
    """

    def __init__(
        self, gateway_url: str, *, token: AccessToken, http: httpx.Client | None = None
    ) -> None:
        self.calls = Calls(Exchange(gateway_url, can_renew=callable(token)))
        self._token = token
        self._http = http or httpx.Client(timeout=_TIMEOUT)
        if http is None:
            weakref.finalize(self, self._http.close)  # in case nobody closes it

    call = _one(Calls.call)
    tools = _many(Calls.tools)
    catalogs = _many(Calls.catalogs)
    create_catalog = _one(Calls.create_catalog)
    update_catalog = _one(Calls.update_catalog)
    open_catalog = _one(Calls.open_catalog)
    delete_catalog = _one(Calls.delete_catalog)
    upload = _one(Calls.upload)
    documents = _many(Calls.documents)
    status = _one(Calls.status)
    wait = _one(Calls.wait)
    search = _one(Calls.search)
    ask = _one(Calls.ask)
    download = _one(Calls.download)
    delete = _one(Calls.delete)
    wait_deleted = _one(Calls.wait_deleted)
    feedback = _one(Calls.feedback)
    list_feedback = _one(Calls.list_feedback)
    usage = _one(Calls.usage)
    events = _many(Calls.events)

    def results(self, pages: Pages[T]) -> Generator[T]:
        result = None
        with closing(pages):
            while (step := _next(pages, result)) is not None:
                result = None
                if isinstance(step, list):
                    yield from step
                else:
                    result = self._perform(step)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, float):
            return time.sleep(step)
        try:
            if isinstance(step, Token):
                return self._token() if callable(self._token) else self._token
            with closing(self._http.send(step.request, **_PLAIN)) as response:
                if step.to is None or not response.is_success:
                    response.read()
                else:
                    for piece in response.iter_bytes():
                        step.to.write(piece)
                return response
        except (httpx.TransportError, Unavailable) as error:
            return error

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncClient:
    """The same client for asyncio; a `token` function is called in a thread."""

    def __init__(
        self, gateway_url: str, *, token: AccessToken, http: httpx.AsyncClient | None = None
    ) -> None:
        self.calls = Calls(Exchange(gateway_url, can_renew=callable(token)))
        self._token = token
        self._http = http or httpx.AsyncClient(timeout=_TIMEOUT)

    call = _async_one(Calls.call)
    tools = _async_many(Calls.tools)
    catalogs = _async_many(Calls.catalogs)
    create_catalog = _async_one(Calls.create_catalog)
    update_catalog = _async_one(Calls.update_catalog)
    open_catalog = _async_one(Calls.open_catalog)
    delete_catalog = _async_one(Calls.delete_catalog)
    upload = _async_one(Calls.upload)
    documents = _async_many(Calls.documents)
    status = _async_one(Calls.status)
    wait = _async_one(Calls.wait)
    search = _async_one(Calls.search)
    ask = _async_one(Calls.ask)
    download = _async_one(Calls.download)
    delete = _async_one(Calls.delete)
    wait_deleted = _async_one(Calls.wait_deleted)
    feedback = _async_one(Calls.feedback)
    list_feedback = _async_one(Calls.list_feedback)
    usage = _async_one(Calls.usage)
    events = _async_many(Calls.events)

    async def results(self, pages: Pages[T]) -> AsyncGenerator[T]:
        result = None
        with closing(pages):
            while (step := _next(pages, result)) is not None:
                result = None
                if isinstance(step, list):
                    for each in step:
                        yield each
                else:
                    result = await self._perform(step)

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, float):
            return await asyncio.sleep(step)
        try:
            if isinstance(step, Token):
                token = self._token
                return await asyncio.to_thread(token) if callable(token) else token
            response = await self._http.send(step.request, **_PLAIN)
            async with aclosing(response):
                if step.to is None or not response.is_success:
                    await response.aread()
                else:
                    async for piece in response.aiter_bytes():
                        step.to.write(piece)
                return response
        except (httpx.TransportError, Unavailable) as error:
            return error

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()


def _next(pages: Pages[T], result: object) -> Step | list[T] | None:
    """Return the next step or page; None at the end."""
    try:
        return pages.send(result)
    except StopIteration:
        return None
