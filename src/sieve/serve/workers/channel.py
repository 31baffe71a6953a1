"""Messages between two processes over a Unix socket: JSON, bytes, a descriptor."""

from __future__ import annotations

import json
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sieve.errors import ModelError

_HEAD = struct.Struct(">IQ?")


@dataclass(frozen=True)
class Message:
    """What one process tells another."""

    fields: dict[str, Any]
    data: bytes = b""
    descriptor: int | None = None


class Channel:
    """One end of a socket; each message is answered before the next is sent."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()

    def ask(self, message: Message, seconds: float | None = None) -> Message:
        """The other side's answer; a refusal of it is a `ModelError`.

        Raises:
            OSError, EOFError: The other side is gone, or has not answered in time.
        """
        with self._lock:
            self._sock.settimeout(seconds)
            self.send(message)
            answer = self.receive()
        if "error" in answer.fields:
            raise ModelError(answer.fields["error"])
        return answer

    def send(self, message: Message) -> None:
        """Sends a message; its descriptor stays open here."""
        fields = json.dumps(message.fields).encode()
        head = _HEAD.pack(len(fields), len(message.data), message.descriptor is not None)
        if message.descriptor is None:
            self._sock.sendall(head)
        else:  # the head is far smaller than what a socket takes at once
            socket.send_fds(self._sock, [head], [message.descriptor])
        self._sock.sendall(fields + message.data)

    def receive(self) -> Message:
        """The next message; EOFError when the other side is gone."""
        head, descriptors, _, _ = socket.recv_fds(self._sock, _HEAD.size, 1)
        if not head:
            raise EOFError
        head += self._exactly(_HEAD.size - len(head))
        size, more, _ = _HEAD.unpack(head)
        fields = json.loads(self._exactly(size))
        return Message(fields, self._exactly(more), next(iter(descriptors), None))

    def close(self) -> None:
        """Ends the connection; whoever waits for a message gets an EOFError."""
        with suppress(OSError):  # the other side was faster
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def _exactly(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            part = self._sock.recv(min(size - len(content), 2**20))
            if not part:
                raise EOFError
            content += part
        return bytes(content)
