"""The JSON client that remote backends share, against real services on loopback."""

import base64
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from veles_core.errors import BackendRefused, BackendUnavailable, ConfigurationError
from veles_core.remote import EXCERPT_CHARACTERS, Patience, Remote, openai_root
from veles_core.testing.http import HANGUP, HTML, NEVER, Reply, Request, Service, script

TOKEN = "sk-very-secret-0123456789"
FINE = Reply({"fine": True})
SHORT = Patience(total=0.3, connect=0.2)


class Time:
    """A monotonic clock that only sleeping moves; remembers each sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    services: list[Service] = []

    def start(*replies: Reply, **options: Any) -> Service:
        services.append(Service(script(*replies, **options)))
        return services[-1]

    yield start
    for service in services:
        service.close()


@pytest.fixture
def ask() -> Iterator[Callable[..., Remote]]:
    remotes: list[Remote] = []

    def start(url: str, time: Time | None = None, **options: Any) -> Remote:
        time = time or Time()
        fixed = {"sleep": time.sleep, "clock": time.clock, "jitter": lambda: 0.0}
        remotes.append(Remote(url, "test service", **(fixed | options)))
        return remotes[-1]

    yield start
    for remote in remotes:
        remote.close()


def test_it_posts_json_below_the_base_path_and_returns_the_answers_object(serve, ask):
    service = serve(FINE)
    assert ask(f"{service.url}/deep/").post("/path", {"text": "żółw 🚀"}) == {"fine": True}
    [request] = service.requests
    assert (request.method, request.path) == ("POST", "/deep/path")
    assert request.json == {"text": "żółw 🚀"}
    assert request.headers["Content-Type"] == "application/json"
    assert "Authorization" not in request.headers


def test_opening_contacts_nobody_and_connections_are_kept(serve, ask):
    service = serve(FINE)
    remote = ask(service.url)
    assert service.requests == []
    for _ in range(3):
        remote.post("/", {})
    assert len({request.connection for request in service.requests}) == 1


def test_threads_share_one_client(serve, ask):
    barrier = threading.Barrier(4)

    def replies(request: Request) -> Reply:
        barrier.wait(5)  # all four are in flight at once
        return Reply({"echo": request.json["n"]})

    remote = ask(serve(then=replies).url)
    answers: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda n=n: answers.update({n: remote.post("/", {"n": n})}))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert answers == {n: {"echo": n} for n in range(4)}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_a_transient_status_is_retried_with_growing_pauses(serve, ask, status):
    service = serve(Reply({"error": "busy"}, status=status), Reply(status=status), then=FINE)
    time = Time()
    assert ask(service.url, time).post("/", {}) == {"fine": True}
    assert len(service.requests) == 3
    assert time.slept == [0.25, 0.5]


def test_jitter_takes_off_up_to_half_of_a_pause(serve, ask):
    service = serve(Reply(status=503))
    time = Time()
    with pytest.raises(BackendUnavailable):
        ask(service.url, time, jitter=lambda: 1.0).post("/", {})
    assert time.slept == [0.125, 0.25]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 413, 418, 422])
def test_a_refusal_is_never_retried(serve, ask, status):
    service = serve(Reply({"error": {"message": "no, thank you"}}, status=status))
    with pytest.raises(BackendRefused, match=f"answered HTTP {status}: no, thank you") as caught:
        ask(service.url).post("/", {})
    assert len(service.requests) == 1
    assert caught.value.actual == status


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, BackendUnavailable),
        (502, BackendUnavailable),
        (503, BackendUnavailable),
        (504, BackendUnavailable),
        (500, BackendRefused),
        (501, BackendRefused),
    ],
)
def test_a_status_that_lasts_says_whether_trying_again_may_help(serve, ask, status, kind):
    service = serve(Reply({"error": "json: unsupported value: NaN"}, status=status))
    with pytest.raises(kind, match=f"HTTP {status}: json: unsupported value: NaN"):
        ask(service.url).post("/", {})
    assert len(service.requests) == 3


def test_the_attempts_are_bounded_by_the_patience(serve, ask):
    service = serve(Reply(status=500))
    with pytest.raises(BackendRefused):
        ask(service.url, patience=Patience(attempts=5)).post("/", {})
    assert len(service.requests) == 5


def test_no_pause_begins_that_would_outlast_the_total(serve, ask):
    service = serve(Reply(status=500))
    time = Time()
    with pytest.raises(BackendRefused):
        ask(service.url, time, patience=Patience(total=1.0, attempts=9)).post("/", {})
    assert time.slept == [0.25, 0.5]


def test_retry_after_is_respected_within_the_total(serve, ask):
    busy = Reply(status=429, headers={"Retry-After": "7"})
    service = serve(busy, then=FINE)
    time = Time()
    assert ask(service.url, time).post("/", {}) == {"fine": True}
    assert time.slept == [7.0]


def test_retry_after_may_be_a_date(serve, ask):
    headers = {
        "Date": "Mon, 02 Mar 2026 10:00:00 GMT",
        "Retry-After": "Mon, 02 Mar 2026 10:00:04 GMT",
    }
    service = serve(Reply(status=503, headers=headers), then=FINE)
    time = Time()
    ask(service.url, time).post("/", {})
    assert time.slept == [4.0]


@pytest.mark.parametrize("value", ["soon", "-5", "Mon, 02 Mar 2020 10:00:00 GMT", ""])
def test_a_retry_after_that_says_nothing_is_the_usual_pause(serve, ask, value):
    service = serve(Reply(status=503, headers={"Retry-After": value}), then=FINE)
    time = Time()
    ask(service.url, time).post("/", {})
    assert time.slept == [0.25]


def test_a_retry_after_beyond_the_total_is_told_at_once(serve, ask):
    service = serve(Reply(status=429, headers={"Retry-After": "3600"}))
    time = Time()
    with pytest.raises(BackendUnavailable, match="HTTP 429; it asks to wait 3600 s"):
        ask(service.url, time).post("/", {})
    assert len(service.requests) == 1
    assert time.slept == []


def test_a_broken_connection_is_retried(serve, ask):
    service = serve(HANGUP, HANGUP, then=FINE)
    assert ask(service.url).post("/", {}) == {"fine": True}
    assert len(service.requests) == 3


def test_an_answer_that_breaks_off_is_retried(serve, ask):
    half = Reply(body=b'{"fine"', headers={"Content-Length": "100", "Connection": "close"})
    service = serve(half, then=FINE)
    assert ask(service.url).post("/", {}) == {"fine": True}


def test_nobody_listening_is_unavailable_after_the_attempts(ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    time = Time()
    with pytest.raises(BackendUnavailable, match=r"can't be reached: .*refused") as caught:
        ask(f"http://127.0.0.1:{port}", time).post("/", {})
    assert time.slept == [0.25, 0.5]
    assert f"the test service at http://127.0.0.1:{port}" in caught.value.message


def test_a_service_that_comes_up_between_attempts_is_reached(ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    started: list[Service] = []

    def sleep(_seconds: float) -> None:
        if not started:
            started.append(Service(script(FINE), port))

    try:
        assert ask(f"http://127.0.0.1:{port}", sleep=sleep).post("/", {}) == {"fine": True}
    finally:
        for service in started:
            service.close()


def test_silence_ends_with_the_patience_and_is_not_retried(serve, ask):
    service = serve(NEVER)
    with pytest.raises(BackendUnavailable, match=r"didn't answer within 0\.3 s"):
        ask(service.url, patience=SHORT).post("/", {})
    assert len(service.requests) == 1


def test_a_listener_that_reads_nothing_ends_with_the_patience(ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(BackendUnavailable, match=r"didn't answer within 0\.3 s"):
            ask(url, patience=SHORT).post("/", {})


def test_an_answer_that_stalls_ends_with_the_patience(serve, ask):
    service = serve(Reply(body=[b'{"fine"'], fault="stall"))
    with pytest.raises(BackendUnavailable, match=r"didn't answer within 0\.3 s"):
        ask(service.url, patience=SHORT).post("/", {})


def test_an_answer_that_trickles_is_bounded_as_a_whole(serve, ask):
    time = Time()

    def trickle() -> Iterator[bytes]:
        while True:
            time.now += 1.0  # each byte arrives well before a read would time out
            yield b" "

    service = serve(Reply(body=trickle()))
    with pytest.raises(BackendUnavailable, match="didn't answer within 20 s"):
        ask(service.url, time).post("/", {})


def test_an_answer_over_the_cap_is_refused_while_it_still_arrives(serve, ask):
    service = serve(Reply(body=(b" " * 1000 for _ in iter(int, 1))))  # without an end
    with pytest.raises(BackendRefused, match="answered with more than 5000 bytes"):
        ask(service.url, max_bytes=5000).post("/", {})


def test_an_answer_of_the_caps_size_is_read(serve, ask):
    body = b'{"fine": true}'
    service = serve(Reply(body=body))
    assert ask(service.url, max_bytes=len(body)).post("/", {}) == {"fine": True}
    with pytest.raises(BackendRefused):
        ask(service.url, max_bytes=len(body) - 1).post("/", {})


def test_an_endless_error_page_is_cut_not_read(serve, ask):
    service = serve(Reply(body=(b"x" * 1000 for _ in iter(int, 1)), status=400))
    with pytest.raises(BackendRefused) as caught:
        ask(service.url).post("/", {})
    assert "x" * EXCERPT_CHARACTERS + "…" in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (HTML, "isn't JSON: <!doctype html>"),
        (Reply(body=b""), "isn't JSON: nothing"),
        (Reply(body=b"", status=204), "isn't JSON: nothing"),
        (Reply(body=b"\xff\xfe"), "isn't JSON"),
        (Reply(body=b"[" * 100_000), "isn't JSON"),
        (Reply([1, 2]), "a JSON list in place of an object"),
        (Reply("text"), "a JSON str in place of an object"),
    ],
)
def test_an_answer_that_is_no_json_object_is_refused_with_what_it_was(serve, ask, reply, said):
    service = serve(reply)
    with pytest.raises(BackendRefused, match=said):
        ask(service.url).post("/", {})
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            Reply({"error": {"message": "bad key", "code": 7}}, status=401),
            "401: bad key; check the API",
        ),
        (
            Reply({"error": "model 'm' not found"}, status=404),
            "404: model 'm' not found; check the URL",
        ),
        (Reply({"message": "in message"}, status=400), "400: in message"),
        (Reply({"detail": "in detail"}, status=400), "400: in detail"),
        (Reply({"detail": [{"loc": 1}]}, status=422), r'422: \{"detail": \[\{"loc": 1\}\]\}'),
        (Reply(body=b"plain\r\n\ttext\x00\x1b[31m", status=400), r"400: plain text \[31m$"),
        (Reply(body=b"", status=400), "answered HTTP 400$"),
    ],
)
def test_the_services_own_words_are_shown_on_one_clean_line(serve, ask, reply, said):
    with pytest.raises(BackendRefused, match=said) as caught:
        ask(serve(reply).url).post("/", {})
    assert caught.value.message.isprintable()


def test_redirects_are_not_followed(serve, ask):
    goal = serve(FINE)
    service = serve(Reply(status=307, headers={"Location": f"{goal.url}/stolen"}))
    with pytest.raises(BackendRefused, match="HTTP 307: a redirect; they are not followed"):
        ask(service.url, token=SecretStr(TOKEN)).post("/", {})
    assert goal.requests == []


def test_the_token_travels_in_the_header_only_and_is_shown_nowhere(serve, ask, caplog):
    caplog.set_level(logging.DEBUG)
    echo = Reply({"error": f"key {TOKEN} is unknown, header Bearer {TOKEN}"}, status=500)
    service = serve(echo)
    remote = ask(service.url, token=SecretStr(f" {TOKEN}\n"))
    with pytest.raises(BackendRefused, match=r"key \*\*\* is unknown") as caught:
        remote.post("/", {})
    assert {r.headers["Authorization"] for r in service.requests} == {f"Bearer {TOKEN}"}
    shown = [caught.value.message, str(caught.value.data()), repr(remote), remote.source]
    shown += [str(caught.value.__cause__), caplog.text]
    assert not [text for text in shown if TOKEN in text]
    assert "asking again" in caplog.text


def test_credentials_in_the_url_are_sent_and_masked(serve, ask, caplog):
    caplog.set_level(logging.DEBUG)
    service = serve(Reply({"error": "who is w%rd?"}, status=500))
    url = service.url.replace("http://", "http://user:p%40ss-w%25rd@")
    with pytest.raises(
        BackendRefused, match=r"at http://\*\*\*@127\.0\.0\.1:\d+ answered"
    ) as caught:
        ask(url).post("/", {})
    sent = base64.b64encode(b"user:p@ss-w%rd").decode()
    assert service.requests[0].headers["Authorization"] == f"Basic {sent}"
    assert "@127" not in service.requests[0].headers["Host"]
    for text in (caught.value.message, caplog.text):
        assert "p%40ss" not in text
        assert "p@ss" not in text
        assert sent not in text


def test_a_token_wins_over_credentials_in_the_url(serve, ask):
    service = serve(FINE)
    url = service.url.replace("http://", "http://user:password@")
    ask(url, token=SecretStr(TOKEN)).post("/", {})
    assert service.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", ["sk-żółw", "sk-one\nsk-two", "sk-\x00"])
def test_a_token_that_no_header_carries_is_refused_without_showing_it(ask, token):
    with pytest.raises(ConfigurationError, match="API token of the test service") as caught:
        ask("http://127.0.0.1:1", token=SecretStr(token))
    assert "sk-" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434",
        "user:secret@localhost:11434",
        "ftp://user:secret@localhost",
        "http://",
        "http://[::1",
        "http://user:secret@host:port",
        "http://host/?key=secret",
        "http://host/#secret",
        "",
    ],
)
def test_a_url_that_cannot_be_asked_is_refused_without_showing_it(ask, url):
    with pytest.raises(ConfigurationError, match="the URL of the test service") as caught:
        ask(url)
    assert "secret" not in caught.value.message


def test_proxies_of_the_environment_are_not_used(serve, ask, monkeypatch):
    proxy, service = serve(Reply({"proxy": True})), serve(FINE)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(service.url).post("/", {}) == {"fine": True}
    assert proxy.requests == []


def test_https_verifies_the_service(ask):
    remote = ask("https://127.0.0.1:1")
    context = remote._client._transport._pool._ssl_context
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_closed_client_asks_nobody(serve, ask):
    service = serve(FINE)
    remote = ask(service.url)
    remote.close()
    with pytest.raises(RuntimeError):
        remote.post("/", {})
    assert service.requests == []


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("http://host", "http://host/v1"),
        ("http://host/", "http://host/v1"),
        ("http://host/v1", "http://host/v1"),
        ("http://host/v1/", "http://host/v1"),
        ("http://host/api", "http://host/api/v1"),
        ("http://host/api/v1//", "http://host/api/v1"),
        ("http://host/dev1", "http://host/dev1/v1"),
    ],
)
def test_the_openai_root_with_or_without_its_version(url, root):
    assert openai_root(url) == root
