"""The servers whose sign-ins are compared: how to start each, and how to sign in."""

import json
import os
import secrets
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from contextlib import closing
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Final, NamedTuple

from lab.bench.calls import Sink
from lab.bench.sink import HOST
from lab.processes import Process
from tests.support.program import code_params, verify_params

ROOT = Path(__file__).parents[2]
ADDRESS = "visitor{}@example.test"
_RESPONSE_SECONDS = 30.0
_BENCH_PYTHON = ROOT / ".venv-bench/bin/python"


class NotMeasured(Exception):
    """A side could not be started, or didn't work as expected."""


class ServerConfig(NamedTuple):
    """The configuration of a server: data folder, port, mail server and number of users."""

    folder: Path
    port: int
    sink: Sink
    users: int


class Response(NamedTuple):
    status: int
    body: Any
    cookie: str


class Http:
    """One persistent connection. A request is sent in one piece, as most clients do."""

    def __init__(self, port: int) -> None:
        self._host = f"{HOST}:{port}"
        self._socket = socket.create_connection((HOST, port), _RESPONSE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path: str, **headers: str) -> Response:
        return self._request("GET", path, headers, b"")

    def post(self, path: str, body: object, **headers: str) -> Response:
        return self._request("POST", path, headers, json.dumps(body).encode())

    def _request(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Response:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        response = HTTPResponse(self._socket, method=method)
        response.begin()
        content = response.read()
        is_json = "json" in response.headers.get_content_type()
        cookies = (cookie.partition(";")[0] for cookie in response.headers.get_all("Set-Cookie", []))
        return Response(response.status, json.loads(content) if is_json else content, "; ".join(cookies))

    def close(self) -> None:
        self._socket.close()


class Side(ABC):
    """A server and its sign-in."""

    name: str
    ready_path: str
    needs: tuple[str, ...]
    """Files that it needs to start; `make` creates them."""

    def __init__(self, config: ServerConfig) -> None:
        for name in self.needs:
            if not (ROOT / name).exists():
                raise NotMeasured(f"{name} is missing; run: make {name}")
        self.config = config
        self.port = config.port
        self.sink = config.sink
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
        environment = {**inherited, **self.environment()}
        self.process = Process(self.command(), config.folder / "log", environment, ROOT)

    @abstractmethod
    def command(self) -> list[str]: ...

    def environment(self) -> dict[str, str]:
        return {}

    @abstractmethod
    def send(self, http: Http, email: str) -> str:
        """Request a code. Return a value to send with the code, if any."""

    @abstractmethod
    def verify(self, http: Http, email: str, code: str, pending: str) -> str:
        """Send the code, and return the session."""

    @abstractmethod
    def accepts(self, http: Http, session: str) -> bool:
        """Return whether the session is valid."""

    def start(self) -> None:
        self.process.start(self._is_ready, 0.05)

    def _is_ready(self, _: Process) -> bool:
        try:
            with closing(Http(self.port)) as http:
                return http.get(self.ready_path).status == 200
        except (OSError, HTTPException):
            return False


class Tickover(Side):
    name = "Tickover"
    ready_path = "/readyz"
    needs = (".venv/run",)

    def command(self) -> list[str]:
        return [str(ROOT / ".venv/bin/tickover"), "serve"]

    def environment(self) -> dict[str, str]:
        return {
            "TICKOVER_DATA_DIR": str(self.config.folder),
            "TICKOVER_PORT": str(self.port),
            "TICKOVER_MAIL_URL": f"smtp://{self.sink.address}",
            "TICKOVER_CLIENT_BURST": "0",
        }

    def send(self, http: Http, email: str) -> str:
        return str(self._call(http, "sendLoginCodeEmail", code_params(email))["message"])

    def verify(self, http: Http, email: str, code: str, pending: str) -> str:
        return str(self._call(http, "loginByEmailVerification", verify_params(email, code))["token"])

    def accepts(self, http: Http, session: str) -> bool:
        call = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": {}}
        response = http.post("/rpc", call, Authorization=f"Bearer {session}")
        return "clock" in response.body.get("result", {})

    def _call(self, http: Http, method: str, params: dict[str, str]) -> dict[str, Any]:
        response = http.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        _expect(response, response.status == 200 and "result" in response.body)
        result: dict[str, Any] = response.body["result"]
        return result


class BetterAuth(Side):
    name = "better-auth"
    ready_path = "/api/auth/ok"
    needs = (".node-bench/ready",)

    def start(self) -> None:
        # Beside its packages, because Node looks for them there.
        shutil.copy(ROOT / "lab/bench/baselines/better_auth/server.mjs", ROOT / ".node-bench")
        super().start()

    def command(self) -> list[str]:
        database, smtp = str(self.config.folder / "auth.db"), self.sink.address.split(":")
        return ["node", ".node-bench/server.mjs", str(self.port), database, *smtp]

    def environment(self) -> dict[str, str]:
        return {"NODE_ENV": "production"}

    def send(self, http: Http, email: str) -> str:
        response = http.post("/api/auth/email-otp/send-verification-otp", {"email": email, "type": "sign-in"})
        _expect(response, response.status == 200 and response.body["success"] is True)
        return ""

    def verify(self, http: Http, email: str, code: str, pending: str) -> str:
        response = http.post("/api/auth/sign-in/email-otp", {"email": email, "otp": code})
        _expect(response, response.status == 200 and bool(response.body["token"]))
        return response.cookie

    def accepts(self, http: Http, session: str) -> bool:
        response = http.get("/api/auth/get-session", Cookie=session)
        return response.status == 200 and bool(response.body and response.body["session"])


class Allauth(Side):
    name = "django-allauth"
    ready_path = "/_allauth/app/v1/config"
    needs = (".venv-bench/allauth",)
    _api = "/_allauth/app/v1/auth"

    def start(self) -> None:
        seed = [str(_BENCH_PYTHON), "-m", "lab.bench.baselines.allauth.seed", ADDRESS, str(self.config.users)]
        made = subprocess.run(  # noqa: S603 - constant arguments
            seed, cwd=ROOT, env=dict(self.process.environment), capture_output=True, text=True, check=False
        )
        if made.returncode != 0:
            raise NotMeasured(f"its accounts could not be created: {made.stderr.strip().splitlines()[-1]}")
        super().start()

    def command(self) -> list[str]:
        options = ["--workers=1", "--worker-class=gthread", "--threads=1", f"--bind={HOST}:{self.port}"]
        return [str(_BENCH_PYTHON.with_name("gunicorn")), *options, "lab.bench.baselines.allauth.wsgi"]

    def environment(self) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "lab.bench.baselines.allauth.settings",
            "BENCH_SECRET_KEY": secrets.token_hex(32),
            "BENCH_DATABASE": str(self.config.folder / "allauth.db"),
            "BENCH_SMTP_HOST": HOST,
            "BENCH_SMTP_PORT": self.sink.address.split(":")[1],
        }

    def send(self, http: Http, email: str) -> str:
        response = http.post(f"{self._api}/code/request", {"email": email})
        # The response says that the user is not signed in yet, and returns a session token.
        _expect(response, response.status == 401 and bool(response.body["meta"]["session_token"]))
        return str(response.body["meta"]["session_token"])

    def verify(self, http: Http, email: str, code: str, pending: str) -> str:
        response = http.post(f"{self._api}/code/confirm", {"code": code}, X_Session_Token=pending)
        _expect(response, response.status == 200 and response.body["data"]["user"]["email"] == email)
        # The token changes when it becomes valid, and only this response contains it.
        return str(response.body["meta"].get("session_token", pending))

    def accepts(self, http: Http, session: str) -> bool:
        response = http.get(f"{self._api}/session", X_Session_Token=session)
        return response.status == 200 and response.body["meta"]["is_authenticated"] is True


def _expect(response: Response, good: bool) -> None:
    if not good:
        raise NotMeasured(f"it returned {response.status} {response.body!r}")


SIDES: Final[tuple[type[Side], ...]] = (Tickover, BetterAuth, Allauth)
