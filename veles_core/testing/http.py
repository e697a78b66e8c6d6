"""Real HTTP services on the loopback address whose behaviour a test writes down.

``Service`` serves whatever a function replies. ``ollama`` and ``openai`` make such
functions in the shapes of those protocols; ``script`` lets faults come first::

    with Service(script(Reply(status=503), then=ollama(embed=vector_of))) as service:
        embedder = open_embedder(service.url)
        ...
    assert [request.path for request in service.requests] == ["/api/embed"] * 2

Nothing here imports pytest or waits for a fixed time: what hangs is released by ``close``.
"""

import contextlib
import hashlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from types import TracebackType
from typing import Any, Final, Literal, Self

MAX_WAIT: Final = 30.0  # seconds that a service which never answers keeps a thread


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. ``json`` is its body, None without one."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any
    connection: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: ``json``, or else ``body`` (bytes, or chunks sent as they come).

    ``fault`` replaces it: "silence" never answers, "hangup" closes the connection
    without a word, "stall" sends the head and the first chunk and then nothing more.
    """

    json: Any = None
    status: int = 200
    body: bytes | Iterable[bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    fault: Literal["silence", "hangup", "stall"] | None = None


Replies = Callable[[Request], Reply]

NEVER: Final = Reply(fault="silence")
HANGUP: Final = Reply(fault="hangup")
HTML: Final = Reply(
    body=b"<!doctype html><title>Welcome</title>", headers={"Content-Type": "text/html"}
)


class Service:
    """A threaded HTTP/1.1 server on 127.0.0.1 that answers with ``replies``; a context manager.

    ``port`` 0 takes a free one. ``requests`` lists what arrived, in order.
    """

    def __init__(self, replies: Replies, port: int = 0) -> None:
        self.replies = replies
        self.requests: list[Request] = []
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop listening, hang up on everyone and wait for the threads; idempotent."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                _shut(connection)
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def opened(self, connection: socket.socket) -> None:
        """Called by the server for each connection."""
        with self._lock:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        """Called by the server when a connection has ended."""
        with self._lock:
            self._connections.discard(connection)

    def arrived(self, request: Request) -> Reply:
        """Called by the server for each request: note it, and say what to answer."""
        with self._lock:
            self.requests.append(request)
        return self.replies(request)

    def hang(self) -> None:
        """Called by the server to keep a client waiting until ``close``."""
        self._closing.wait(MAX_WAIT)


def script(*first: Reply, then: Replies | Reply | None = None) -> Replies:
    """Answer with these replies in turn, then with ``then`` (by default the last of them)."""
    waiting = list(first)
    lock = threading.Lock()
    rest = first[-1] if then is None else then

    def replies(request: Request) -> Reply:
        with lock:
            if waiting:
                return waiting.pop(0)
        return rest if isinstance(rest, Reply) else rest(request)

    return replies


def vector_of(text: str, dimension: int = 8) -> list[float]:
    """A vector that depends on nothing but the text, in no way normalised."""
    numbers: list[float] = []
    while len(numbers) < dimension:
        digest = hashlib.blake2b(f"{len(numbers)} {text}".encode()).digest()
        numbers += [byte - 127.5 for byte in digest]
    return numbers[:dimension]


Embed = Callable[[str], Any]  # text → what stands for its vector, or a Reply to the whole request
Chat = Callable[[str], str | Reply]  # the last message's text → the model's answer


def ollama(embed: Embed = vector_of, chat: Chat | None = None) -> Replies:
    """Ollama's ``/api/embed``, and its ``/api/chat`` and ``/api/generate`` if ``chat`` is given."""

    def replies(request: Request) -> Reply:
        if request.path == "/api/embed":
            vectors = _embedded(embed, request.json["input"])
            return vectors if isinstance(vectors, Reply) else Reply({"embeddings": vectors})
        if chat is not None and request.path in ("/api/chat", "/api/generate"):
            said = chat(_last_message(request.json))
            if isinstance(said, Reply):
                return said
            if request.path == "/api/generate":
                return Reply({"model": request.json["model"], "response": said, "done": True})
            message = {"role": "assistant", "content": said}
            return Reply({"model": request.json["model"], "message": message, "done": True})
        return Reply({"error": "404 page not found"}, status=404)

    return replies


def openai(
    embed: Embed = vector_of,
    chat: Chat | None = None,
    order: Literal["first", "last"] = "first",
) -> Replies:
    """The OpenAI protocol's ``/v1/embeddings``, and ``/v1/chat/completions`` with ``chat``.

    Answers hold only what a client needs. ``order`` says which item is listed first.
    """

    def replies(request: Request) -> Reply:
        if request.path == "/v1/embeddings":
            vectors = _embedded(embed, request.json["input"])
            if isinstance(vectors, Reply):
                return vectors
            items = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
            return Reply({"data": items if order == "first" else items[::-1]})
        if chat is not None and request.path == "/v1/chat/completions":
            said = chat(_last_message(request.json))
            if isinstance(said, Reply):
                return said
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return Reply({"choices": [choice]})
        return Reply({"error": {"message": f"no route {request.path}"}}, status=404)

    return replies


def _embedded(embed: Embed, texts: str | Sequence[str]) -> list[Any] | Reply:
    vectors = [embed(text) for text in ([texts] if isinstance(texts, str) else texts)]
    return next((vector for vector in vectors if isinstance(vector, Reply)), vectors)


def _last_message(body: Any) -> str:
    return str(body["messages"][-1]["content"] if "messages" in body else body["prompt"])


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other end may have been faster
        connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingTCPServer):  # HTTPServer would look up this machine's name first
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], service: Service) -> None:
        self.service = service
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.service.opened(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.service.closed(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what some tests are about; anything else is told."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.command,
            self.path,
            dict(self.headers.items()),
            json.loads(body) if body else None,
            self.client_address[1],
        )
        reply = self.server.service.arrived(request)
        if reply.fault == "silence":
            self.server.service.hang()
        if reply.fault in ("silence", "hangup"):
            self.close_connection = True
            return
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        body = reply.body if reply.body is not None else json.dumps(reply.json).encode()
        self.send_response_only(reply.status)
        usual = {"Content-Type": "application/json", "Date": self.date_time_string()}
        for name, value in (usual | reply.headers).items():
            self.send_header(name, value)
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in body:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            if reply.fault == "stall":
                self.server.service.hang()
                self.close_connection = True
                return
        self.wfile.write(b"0\r\n\r\n")
