"""nginx in front of a real server, with the configuration of docs/operating.md."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.debian_packages import require_program
from tests.support.deploy import running
from tests.support.ports import free_port
from tests.support.program import Program
from tests.support.repository import ROOT

_PATH = "/tickover"
_CONFIGURATION = """
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
{user}
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen 127.0.0.1:{port};
        {location}
    }}
}}
"""


@contextmanager
def program_behind_nginx(folder: Path, **settings: str) -> Iterator[tuple[Program, str]]:
    """Run a server below a path of nginx. Yield the server and its public URL."""
    nginx = require_program("nginx", "nginx-light")
    port = free_port()
    url = f"http://127.0.0.1:{port}{_PATH}"
    behind = {"TICKOVER_PUBLIC_URL": f"{url}/", "TICKOVER_TRUSTED_PROXIES": "127.0.0.1", "TICKOVER_MAIL_URL": "outbox:"}
    with Program(folder, **behind, **settings) as program:
        home = folder / "nginx"
        home.mkdir()
        (home / "nginx.conf").write_text(_configuration(port, program))
        with running([nginx, "-p", str(home), "-e", "error.log", "-c", "nginx.conf"], home, port):
            yield program, url


def _configuration(port: int, program: Program) -> str:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    [documented] = re.findall(r"^```nginx\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    location = documented.replace("http://127.0.0.1:8000/", f"{program.url}/")
    assert location != documented
    return _CONFIGURATION.format(user="user root;" if os.geteuid() == 0 else "", port=port, location=location)
