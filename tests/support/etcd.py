"""etcd on this machine: one member, with the files in deploy/patroni and the commands in docs/deploy.md."""

import json
import os
import re
import ssl
import subprocess
from base64 import b64encode
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any, Final

from tests.support.debian_packages import require_program
from tests.support.deploy import DEPLOY, changed
from tests.support.ports import reusable_port
from tests.support.repository import ROOT

_ADDRESS: Final = "127.0.0.1"
PASSWORD: Final = "change-me"
"""The password of Patroni in its file."""


class EtcdError(Exception):
    """etcd rejected a request."""


class Etcd:
    """The files of a member in a folder, and its clients. Start `command` in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = reusable_port()
        self._certificates = folder / "certificates"
        self.authority = self._certificates / "ca.crt"
        self.certificate = self._certificates / f"{_ADDRESS}.crt"
        self.key = self._certificates / f"{_ADDRESS}.key"
        self.command = [require_program("etcd", "etcd-server"), "--config-file=etcd.yml"]
        script = DEPLOY / "patroni" / "make-certificates.sh"
        subprocess.run(["sh", str(script), _ADDRESS], cwd=folder, check=True, capture_output=True, timeout=60)
        (folder / "etcd.yml").write_text(self._configuration())

    @property
    def files(self) -> list[Path]:
        return [self.folder, self.folder / "etcd.yml", self._certificates, *self._certificates.iterdir()]

    @property
    def version(self) -> str:
        """The version that the members of the cluster agreed on, or an empty string if etcd doesn't respond."""
        try:
            return str(self.request("/version")["etcdcluster"])
        except OSError:
            return ""

    def create_users(self) -> None:
        """Run the commands of the page. They ask for passwords."""
        page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
        [commands] = re.findall(r"```\n(export ETCDCTL_ENDPOINTS.*?)```", page, re.DOTALL)
        for old, new in {
            "10.0.0.11:2379": f"{_ADDRESS}:{self.port}",
            "/etc/etcd/ca.crt": str(self.authority),
            "/etc/etcd/node.crt": str(self.certificate),
            "/etc/etcd/node.key": str(self.key),
            "user add patroni": f"user add patroni:{PASSWORD}",
            "user add root": "user add root:another",
        }.items():
            assert old in commands, old
            commands = commands.replace(old, new)
        require_program("etcdctl", "etcd-client")
        environment = {"PATH": os.environ["PATH"], "ETCDCTL_API": "3"}
        subprocess.run(["bash", "-ec", commands], env=environment, check=True, capture_output=True, timeout=60)

    def request(self, path: str, body: dict[str, str] | None = None, token: str = "", certified: bool = True) -> Any:
        """Request as Patroni does, with its certificate."""
        context = ssl.create_default_context(cafile=str(self.authority))
        # Newer versions of Python, and of the libraries of Patroni, check certificates strictly.
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        if certified:
            context.load_cert_chain(self.certificate, self.key)
        connection = HTTPSConnection(_ADDRESS, self.port, timeout=60, context=context)
        try:
            encoded = None if body is None else json.dumps(body)
            connection.request("POST" if encoded else "GET", path, encoded, {"Authorization": token} if token else {})
            response = connection.getresponse()
            if response.status != 200:
                raise EtcdError(response.read())
            return json.load(response)
        finally:
            connection.close()

    def sign_in(self, password: str = PASSWORD) -> str:
        return str(self.request("/v3/auth/authenticate", {"name": "patroni", "password": password})["token"])

    def delete(self, key: str, token: str = "") -> int:
        """Delete a key, and return how many there were."""
        body = {"key": b64encode(key.encode()).decode()}
        return int(self.request("/v3/kv/deleterange", body, token).get("deleted", 0))

    def _configuration(self) -> str:
        peer = f"{_ADDRESS}:{reusable_port()}"
        others = "".join(f",node{number}=https://10.0.0.1{number}:2380" for number in (2, 3))
        return changed(
            "patroni/etcd.yml",
            {
                others: "",
                "10.0.0.11:2379": f"{_ADDRESS}:{self.port}",
                "10.0.0.11:2380": peer,
                "/var/lib/etcd/tickover": str(self.folder / "data"),
                "/etc/etcd/ca.crt": str(self.authority),
                "/etc/etcd/node.crt": str(self.certificate),
                "/etc/etcd/node.key": str(self.key),
            },
        )
