"""JSON over HTTP with bounded waits and retries, for backends that ask a service.

Import it inside a backend's ``open``: it brings httpx along. What is sent goes to the
configured address and nowhere else: redirects are not followed, and neither proxies nor
``.netrc`` are taken from the surroundings.
"""

import base64
import json
import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

import httpx
from pydantic import SecretStr

from veles_core.errors import BackendRefused, BackendUnavailable, ConfigurationError
from veles_core.settings import mask_url

DEFAULT_ANSWER_BYTES: Final = 16 << 20  # a batch of vectors takes about 1 MiB
EXCERPT_BYTES: Final = 4096  # read of an error's body
EXCERPT_CHARACTERS: Final = 200  # shown of it

_NOT_NOW: Final = frozenset({429, 502, 503, 504})  # the service itself says: later
_ADVICE: Final = {
    401: "check the API token",
    403: "check the API token",
    404: "check the URL and the model's name",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a service is waited for, in seconds, and how often it is asked.

    ``total`` bounds one call with all its attempts and pauses. ``pause`` precedes the
    second attempt and doubles from there; up to half of it is taken off at random.
    """

    total: float = 20.0
    connect: float = 3.0
    attempts: int = 3
    pause: float = 0.25


class Remote:
    """One service under a base URL, asked by POST. Thread-safe; connections are kept.

    ``service`` names it in errors ("embedding service"). Credentials inside ``url`` are
    sent as basic authorisation unless there is a ``token``, and are shown nowhere.
    ``max_bytes`` caps an answer. Constructing it contacts nobody; ConfigurationError if
    the URL or the token can't be used.
    """

    def __init__(
        self,
        url: str,
        service: str,
        *,
        token: SecretStr | None = None,
        patience: Patience | None = None,
        max_bytes: int = DEFAULT_ANSWER_BYTES,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        parts = _parsed(url, service)
        address = parts.netloc.rpartition("@")[2]
        self._base = parts._replace(netloc=address).geturl().rstrip("/")
        self._patience = patience or Patience()
        self._max_bytes = max_bytes
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self.source: Final = f"the {service} at {mask_url(url)}"
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # so that the cap counts what arrives
            "Content-Type": "application/json",
        }
        authorisation, self._secrets = _credentials(parts, token, service)
        if authorisation:
            headers["Authorization"] = authorisation
        self._client = httpx.Client(
            headers=headers,
            follow_redirects=False,  # a token must not travel
            trust_env=False,
            verify=_authorities() if parts.scheme == "https" else False,  # no TLS to verify
        )

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """The JSON object that the service answers to ``body`` at ``<base><path>``.

        Raises BackendUnavailable if it didn't answer in time or says that it can't now,
        BackendRefused if it answered anything else; the HTTP status, if that is the
        reason, is the error's ``actual``. Connection errors, 429 and 5xx are tried
        again within the patience; nothing else is.
        """
        content = json.dumps(body).encode()
        deadline = self._clock() + self._patience.total
        attempt = 1
        while True:
            try:
                return self._decoded(self._attempt(path, content, deadline))
            except _Transient as failure:
                wait = max(self._pause(attempt), failure.after)
                if attempt == self._patience.attempts or self._clock() + wait > deadline:
                    raise failure.error from failure.__cause__
                log.debug("asking again in %.2f s: %s", wait, failure.error)
            self._sleep(wait)
            attempt += 1

    def refusal(self, did: str, status: int | None = None) -> BackendRefused:
        """The error that says what the service did: "the … at … ``did``"."""
        return BackendRefused(f"{self.source} {did}", actual=status)

    def close(self) -> None:
        """Close the kept connections; later calls are errors."""
        self._client.close()

    def _attempt(self, path: str, content: bytes, deadline: float) -> bytes:
        remaining = max(deadline - self._clock(), 0.001)
        connect = min(self._patience.connect, remaining)
        timeout = httpx.Timeout(remaining, connect=connect)
        request = self._client.build_request(
            "POST", self._base + path, content=content, timeout=timeout
        )
        try:
            response = self._client.send(request, stream=True)
            try:
                if response.is_success:
                    return self._body(response, deadline, self._max_bytes)
                raise self._failure(response, self._body(response, deadline, EXCERPT_BYTES))
            finally:
                response.close()
        except httpx.ConnectTimeout as error:
            raise _Transient(self._silent(f"accepted no connection in {connect:g} s")) from error
        except httpx.TimeoutException as error:
            raise self._silent(f"didn't answer within {self._patience.total:g} s") from error
        except httpx.TransportError as error:
            did = "can't be reached" if isinstance(error, httpx.ConnectError) else "hung up"
            reason = self._fit(str(error)) or type(error).__name__
            raise _Transient(self._silent(f"{did}: {reason}")) from error

    def _body(self, response: httpx.Response, deadline: float, limit: int) -> bytes:
        """The first ``limit`` bytes of an error, or all of an answer that has no more."""
        held = bytearray()
        for chunk in response.iter_raw():
            held += chunk
            if len(held) > limit:
                if response.is_success:
                    raise self.refusal(f"answered with more than {limit} bytes")
                break
            if self._clock() > deadline:
                raise httpx.ReadTimeout("the answer trickles")
        return bytes(held[:limit])

    def _failure(self, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        did = f"answered HTTP {status}"
        said = self._fit(_complaint(body))
        advice = _ADVICE.get(status, "")
        if response.has_redirect_location:
            said, advice = "a redirect", "they are not followed: configure the address it leads to"
        did = ": ".join(part for part in (did, said) if part)
        did = "; ".join(part for part in (did, advice) if part)
        after = _retry_after(response.headers)
        if status in _NOT_NOW:
            did += f"; it asks to wait {after:g} s" if after else ""
            return _Transient(BackendUnavailable(f"{self.source} {did}", actual=status), after)
        error = self.refusal(did, status)
        return _Transient(error, after) if status >= 500 else error

    def _decoded(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            said = self._fit(body.decode(errors="replace")) or "nothing"
            raise self.refusal(f"answered with something that isn't JSON: {said}") from None
        if not isinstance(answer, dict):
            raise self.refusal(f"answered a JSON {type(answer).__name__} in place of an object")
        return answer

    def _silent(self, did: str) -> BackendUnavailable:
        return BackendUnavailable(f"{self.source} {did}; check that it runs there")

    def _pause(self, attempt: int) -> float:
        return self._patience.pause * 2.0 ** (attempt - 1) * (1 - self._jitter() / 2)

    def _fit(self, text: str) -> str:
        """Text of somebody else's as it may stand in an error: one line, short, no secret."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= EXCERPT_CHARACTERS else line[:EXCERPT_CHARACTERS] + "…"


def openai_root(url: str) -> str:
    """Where the OpenAI protocol's paths begin, of a URL given with or without ``/v1``."""
    base = url.rstrip("/")
    return base if base.endswith("/v1") else base + "/v1"


class _Transient(Exception):
    """A failure worth another attempt, at the earliest ``after`` seconds from now."""

    def __init__(self, error: BackendUnavailable | BackendRefused, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def _parsed(url: str, service: str) -> SplitResult:
    """The parts of a usable base URL. Errors don't repeat it: it may hold a password."""
    try:
        parts = urlsplit(url)
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise ConfigurationError(f"the URL of the {service} is not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"the URL of the {service} must begin with http:// or https:// and a host"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(f"the URL of the {service} must not have a query or a fragment")
    return parts


def _credentials(
    parts: SplitResult, token: SecretStr | None, service: str
) -> tuple[str | None, tuple[str, ...]]:
    """The Authorization header, and every text that must be shown nowhere."""
    bearer = token.get_secret_value().strip() if token else ""
    if not (bearer.isascii() and bearer.isprintable()):
        raise ConfigurationError(
            f"the API token of the {service} holds a character that HTTP can't carry"
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    basic = base64.b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
    secrets = _longest_first([bearer, basic, password, parts.password or ""])
    if bearer:
        return f"Bearer {bearer}", secrets
    return (f"Basic {basic}" if basic else None), secrets


def _longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    """So that one which contains another is masked whole."""
    return tuple(sorted({secret for secret in secrets if secret}, key=lambda s: (-len(s), s)))


def _authorities() -> Any:
    """The public authorities and those that this machine trusts: a company's own among them."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _complaint(body: bytes) -> str:
    """What an error's body says, wherever the usual protocols put it; else the body itself."""
    text = body.decode(errors="replace")
    try:
        said: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for key in ("error", "message", "detail"):
        if isinstance(said, dict) and said.get(key):
            said = said[key]
    return said if isinstance(said, str) else text if said else ""


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a Retry-After header asks for; 0 if it is absent, past or unreadable."""
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:  # a date, which is measured from the answer's own
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):
        return 0.0
    return max(wait.total_seconds(), 0.0)
