"""The ports of a server, and what is wrong if one can't be used."""

import errno
import socket
from typing import NamedTuple

from tickover.server.settings import SettingError, Settings


class Listeners(NamedTuple):
    """The bound sockets of a server."""

    calls: socket.socket
    metrics: socket.socket | None = None
    bank: socket.socket | None = None
    """For the bank's own names."""

    def close(self) -> None:
        for listener in self:
            if listener is not None:
                listener.close()


def open_listeners(settings: Settings, *, shared: bool) -> Listeners:
    """Bind the ports. With `shared`, several processes can bind them, and the kernel distributes connections."""
    listeners = Listeners(listen(settings.host, settings.port, "TICKOVER_HOST", "TICKOVER_PORT", shared=shared))
    try:
        if settings.metrics_port is not None:
            names = "TICKOVER_METRICS_HOST", "TICKOVER_METRICS_PORT"
            metrics = listen(settings.metrics_host, settings.metrics_port, *names, shared=shared)
            listeners = listeners._replace(metrics=metrics)
        if settings.bank_https is not None:
            names = "TICKOVER_BANK_HTTPS", "TICKOVER_BANK_HTTPS"
            listeners = listeners._replace(bank=listen(*settings.bank_https, *names, shared=shared))
    except SettingError:
        listeners.close()
        raise
    return listeners


def listen(host: str, port: int, host_variable: str, port_variable: str, *, shared: bool) -> socket.socket:
    """Bind a socket. The variables are the names of its settings."""
    wrong_host = SettingError(f"{host_variable} must be an address of this machine, not {host!r}.")
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
            advice = (
                f"Set {port_variable} to 1024 or higher, for example 8000, and put a reverse proxy in front. Or allow "
                f"the port: `sudo sysctl net.ipv4.ip_unprivileged_port_start={port}`."
            )
        raise SettingError(f"Can't listen on {host}:{port}: {error.strerror}. {advice}") from None
    return listener


def server_url(host: str, listener: socket.socket) -> str:
    """Return the URL for clients on this machine."""
    host, port = client_host(host), listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def client_host(host: str) -> str:
    """Return the address for clients on this machine: the loopback address instead of a wildcard."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
