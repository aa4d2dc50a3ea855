"""A server on loopback that speaks the chat-completions protocol, with whatever failures a test wants of it."""

import json
import os
import re
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

os.environ["NO_PROXY"] = "127.0.0.1"  # where requests go through a proxy, these still do not
# Each client would read the certificates anew, which takes longer than its requests.
ssl.create_default_context = cache(ssl.create_default_context)


class Asked(NamedTuple):
    """A request: its body, its headers, the answer that is to be judged, and how often that one came before."""

    body: dict
    headers: dict
    answer: str
    before: int


class Raw(NamedTuple):
    """Bytes that are sent as they are, perhaps one by one with a `pause` in seconds after each, and what comes then.

    The connection stays open, or its `end` is "close", "reset" (without a farewell) or "silence".
    """

    data: bytes = b""
    end: str = ""
    pause: float = 0


class Response(NamedTuple):
    """What the server sends; a `body` that is no text is sent as JSON."""

    body: object
    status: int = 200
    headers: dict = {}  # noqa: RUF012
    delay: float = 0


_SCORES = re.compile(r"^.*: \d+ outputs?: .*\n(invalid: .*\nTo ask again: .*\n)?Next: .*\n", re.MULTILINE)


def without_scores(said):
    """What a run says, without the scores and the next command that it ends with."""
    return _SCORES.sub("", said)


def completion(content, *, finish_reason="stop", **message):
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return Response({"id": "c1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage})


class ChatServer:
    """`behave` says what becomes of each request; `asked` holds them all, `replied` counts the whole replies."""

    def __init__(self, behave: Callable[[Asked], Response | Raw]):
        self.behave = behave
        self.asked: list[Asked] = []
        self.replied: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.url = ""


def send_raw(handler, raw, over):
    """Send bytes as they are, until `over` is set, and do what comes then."""
    for piece in [raw.data[at : at + 1] for at in range(len(raw.data))] if raw.pause else [raw.data]:
        handler.wfile.write(piece)
        if over.wait(raw.pause):
            break
    if raw.end == "silence":
        over.wait(5)
    if raw.end == "reset":
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
    handler.close_connection = raw.end != ""


@contextmanager
def serving(behave):
    chat = ChatServer(behave if callable(behave) else lambda _: behave)
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            found = re.search(r"<answer-(\w+)>\n(.*?)\n</answer-\1>", body["messages"][1]["content"], re.DOTALL)
            answer = found[2] if found else ""
            with chat.lock:
                before = sum(asked.answer == answer for asked in chat.asked)
                asked = Asked(body, {name.lower(): value for name, value in self.headers.items()}, answer, before)
                chat.asked.append(asked)
                chat.at_once += 1
                chat.most_at_once = max(chat.most_at_once, chat.at_once)
            try:
                self.respond(chat.behave(asked), asked)
            except OSError:
                self.close_connection = True  # the other side is gone
            finally:
                with chat.lock:
                    chat.at_once -= 1

        def respond(self, response, asked):
            if isinstance(response, Raw):
                send_raw(self, response, over)
                return
            time.sleep(response.delay)
            data = response.body
            if not isinstance(data, str):
                has_model = isinstance(data, dict) and "created" in data
                data = json.dumps({"model": asked.body["model"], **data} if has_model else data)
            self.send_response(response.status)
            for name, value in {"content-type": "application/json", **response.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data.encode())))
            self.end_headers()
            self.wfile.write(data.encode())
            self.wfile.flush()
            with chat.lock:
                chat.replied[asked.answer] += response.status == 200

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        chat.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield chat
        finally:
            over.set()
            server.shutdown()
            thread.join()
