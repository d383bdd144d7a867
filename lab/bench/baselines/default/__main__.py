"""Serve the baseline: python -m lab.bench.baselines.default --port N --database PATH --tokens TOKEN..."""

import argparse
import socket

import uvicorn

from lab.bench.baselines.default.app import create_app


class Server(uvicorn.Server):
    """Prints a line when it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print("ready", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.baselines.default", description="Serve the baseline.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", required=True, metavar="PATH", help="the SQLite file")
    parser.add_argument("--tokens", required=True, nargs="+", help="the token of each user")
    arguments = parser.parse_args()
    app = create_app(arguments.database, arguments.tokens)
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=arguments.port,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )
    Server(config).run()


if __name__ == "__main__":
    main()
