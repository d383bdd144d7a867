"""The limit: a bare ASGI application on uvicorn with a constant response. Nothing on this HTTP server can be faster.

`python -m lab.bench.limit PORT SIZE` serves a response whose body has SIZE bytes.
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]
_BEGINNING, _END = b'{"jsonrpc":"2.0","result":{"constant":"', b'"},"id":1}'


def serve(port: int, size: int) -> None:
    body = _BEGINNING + b"." * (size - len(_BEGINNING) - len(_END)) + _END
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]

    async def app(
        _scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        while (await receive()).get("more_body", False):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(
        app, port=port, http="httptools", loop="uvloop", ws="none", lifespan="off", access_log=False,
        server_header=False, proxy_headers=False, log_level="warning",
    )  # fmt: skip


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
