"""The ports of a server, and what is wrong if one can't be used."""

import errno
import socket
from typing import NamedTuple

from tickover.server.settings import SettingError, Settings


class Listeners(NamedTuple):
    """The bound sockets of a server."""

    calls: socket.socket
    metrics: socket.socket | None

    def close(self) -> None:
        self.calls.close()
        if self.metrics is not None:
            self.metrics.close()


def open_listeners(settings: Settings, *, shared: bool) -> Listeners:
    """Bind the ports. With `shared`, several processes can bind them, and the kernel distributes connections."""
    calls = listen(settings.host, settings.port, shared=shared)
    if settings.metrics_port is None:
        return Listeners(calls, None)
    try:
        return Listeners(calls, listen(settings.metrics_host, settings.metrics_port, shared=shared, setting="METRICS_"))
    except SettingError:
        calls.close()
        raise


def listen(host: str, port: int, *, shared: bool, setting: str = "") -> socket.socket:
    """Bind a socket. `setting` is a part of the names of its settings."""
    port_variable = f"TICKOVER_{setting}PORT"
    wrong_host = SettingError(f"TICKOVER_{setting}HOST must be an address of this machine, not {host!r}.")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise wrong_host from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise wrong_host from None
        advice = f"Stop the other program, or set another {port_variable}."
        if error.errno == errno.EACCES:
            advice = f"Set {port_variable} to 1024 or higher, for example 8000, and put a reverse proxy in front."
        raise SettingError(f"Can't listen on {host}:{port}: {error.strerror}. {advice}") from None
    return listener


def server_url(host: str, listener: socket.socket) -> str:
    """Return the URL for clients on this machine. A wildcard address becomes the loopback address."""
    port = listener.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
