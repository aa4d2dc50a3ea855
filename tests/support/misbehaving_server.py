"""A server on loopback that answers requests for chat completions in bytes of a test's choice, right or wrong."""

import json
import re
import socket
import socketserver
import struct
import threading
from collections import Counter
from contextlib import contextmanager, suppress

from chat_server import completion


def http(body, status="200 OK", *headers, length=None):
    """The bytes of a response."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    lines.append(f"Content-Length: {len(data) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def judged(content, **more):
    """The bytes of a completion with this content."""
    return http(completion(content, **more).body)


class Drip:
    """Bytes that come one by one, with a pause after each."""

    def __init__(self, data, pause=0.05):
        self.data = data
        self.pause = pause


class Silence:
    """Nothing, on a connection that stays open."""


class Reset:
    """The end of a connection without a farewell, after some bytes."""

    def __init__(self, data=b""):
        self.data = data


@contextmanager
def misbehaving(find):  # noqa: C901 (each way to misbehave is a case)
    """Serve what `find(answer, number, headers)` returns; yield the address and the number of requests by answer."""
    asked = Counter()
    over = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            with suppress(OSError):
                while not over.is_set() and self.rfile.readline():
                    headers = {}
                    while line := self.rfile.readline().strip():
                        name, _, value = line.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    body = json.loads(self.rfile.read(int(headers["content-length"])))
                    found = re.search(r"<answer-(\w+)>\n(.*?)\n</answer-\1>", body["messages"][1]["content"], re.DOTALL)
                    number = asked[found[2]]
                    asked[found[2]] += 1
                    if not self.send(find(found[2], number, headers)):
                        return

        def send(self, reply):
            """Send a reply; return whether the connection stays open."""
            if isinstance(reply, Silence):
                over.wait(5)
                return False
            if isinstance(reply, Reset):
                self.wfile.write(reply.data)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return False
            if isinstance(reply, Drip):
                for byte in reply.data:
                    self.wfile.write(bytes([byte]))
                    if over.wait(reply.pause):
                        return False
                return False
            is_last = isinstance(reply, tuple)
            self.wfile.write(reply[0] if is_last else reply)
            return not is_last

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
        finally:
            over.set()
            server.shutdown()
            thread.join()
