"""The debug adapter protocol's messages on two streams: a header with the length, then JSON.

In: bytes. Out: requests; and responses and events as bytes. https://microsoft.github.io/debug-adapter-protocol/
"""

from __future__ import annotations

import json
import threading
from typing import Any, BinaryIO

Message = dict[str, Any]


class Broken(Exception):
    """What was read is no message of the protocol."""


class Connection:
    """Both directions. Messages may be sent from any thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()
        self._count = 0

    def read(self) -> Message | None:
        """The next message; None at the end. Raises `Broken`."""
        length = None
        while True:
            line = self._reader.readline()
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                try:
                    length = int(value)
                except ValueError:
                    raise Broken("Content-Length is no number") from None
        if length is None:
            raise Broken("a message has no Content-Length")
        try:
            found = json.loads(self._reader.read(length))
        except ValueError:
            raise Broken("a message is no JSON") from None
        if not isinstance(found, dict):
            raise Broken("a message is no object")
        return found

    def respond(self, request: Message, body: Message | None = None) -> None:
        """Says that a request has been obeyed."""
        self._send({**_answer(request), "success": True, **({"body": body} if body is not None else {})})

    def refuse(self, request: Message, message: str) -> None:
        """Says why a request cannot be obeyed."""
        error = {"id": 1, "format": message, "showUser": True}
        self._send({**_answer(request), "success": False, "message": message, "body": {"error": error}})

    def event(self, name: str, body: Message | None = None) -> None:
        """Tells that something has happened."""
        self._send({"type": "event", "event": name, "body": body or {}})

    def _send(self, message: Message) -> None:
        with self._lock:
            self._count += 1
            data = json.dumps({"seq": self._count, **message}).encode()
            self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            self._writer.flush()


def _answer(request: Message) -> Message:
    return {"type": "response", "request_seq": request.get("seq", 0), "command": request.get("command", "")}
