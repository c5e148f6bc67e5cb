"""Where questions' vectors are kept."""

import pytest

from stackroom.aws.redis_url import redis_url
from stackroom.aws.settings import SearchSettings


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost",
        "rediss://cache.example.com:6379",
        "redis://[::1]:6379/3",
        "redis://:secret@localhost:6379/0",
    ],
)
def test_a_url_of_redis_is_taken(url: str) -> None:
    assert redis_url({"REDIS_URL": url}) == url
    assert SearchSettings.from_env({"REDIS_URL": url}).redis_url == url


@pytest.mark.parametrize("environ", [{}, {"REDIS_URL": ""}])
def test_without_one_there_is_none(environ: dict[str, str]) -> None:
    assert redis_url(environ) is None
    assert SearchSettings.from_env(environ).redis_url is None


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://:secret@localhost:6379",
        "unix:///tmp/redis.sock",
        "redis://:secret@localhost:0",
        "redis://:secret@localhost:6379/one",
        "rediss://:secret@localhost:6379?ssl_cert_reqs=none",
        "redis://:secret@[localhost:6379",
        "redis://localhost:6379\n",
    ],
)
def test_anything_else_is_refused_without_a_word_of_it(url: str) -> None:
    with pytest.raises(ValueError, match="REDIS_URL must be redis://host:port") as refused:
        redis_url({"REDIS_URL": url})
    with pytest.raises(ValueError, match="redis://host:port") as told:
        SearchSettings.from_env({"REDIS_URL": url})

    assert "secret" not in f"{refused.value}{told.value}"


def test_settings_do_not_show_it() -> None:
    settings = SearchSettings.from_env({"REDIS_URL": "redis://:secret@localhost:6379"})

    assert "secret" not in repr(settings)
