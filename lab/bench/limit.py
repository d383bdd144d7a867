"""The limit: a bare ASGI application on the same HTTP server, with a constant response of a given size.

Nothing on this HTTP server can be faster, so Tickover's rates are also reported as shares of it. Run it with `python -m
bench.limit --port 9000 --size 4096`. It prints `ready` once it serves.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import click
import uvicorn

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

_BEGINNING = b'{"jsonrpc":"2.0","result":{"constant":"'
_END = b'"},"id":1}'


def constant(size: int) -> bytes:
    """Return a response of this many bytes, or of the minimum size."""
    return _BEGINNING + b"." * (size - len(_BEGINNING) - len(_END)) + _END


def bare_app(body: bytes) -> App:
    start = {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
    }
    rest = {"type": "http.response.body", "body": body}

    async def app(
        _scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        while (await receive()).get("more_body", False):
            pass
        await send(start)
        await send(rest)

    return app


class _Server(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        click.echo("ready")


@click.command()
@click.option("--port", type=int, required=True)
@click.option("--size", type=int, required=True, help="Size of the response body in bytes.")
def main(port: int, size: int) -> None:
    """Serve the constant response on 127.0.0.1."""
    config = uvicorn.Config(
        bare_app(constant(size)),
        port=port,
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_level="warning",
    )
    _Server(config).run()


if __name__ == "__main__":
    main()
