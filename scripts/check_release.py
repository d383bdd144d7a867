"""Installs a wheel into a clean environment, and checks that its server serves the console. Run by `make release`.

Dependencies come from the hashed pins, the wheel from the path argument.
"""

import json
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent
PATHS = ("/login", "/docs", "/openrpc.json", "/scenarios.json", "/healthz")


def install(wheel: Path, folder: Path) -> Path:
    """Create an environment with the wheel and its pinned dependencies. Return its bin folder."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "--no-deps", "-r", str(ROOT / "requirements" / "run.txt")], check=True)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "check"], check=True)
    return folder / "bin"


def fetch(url: str) -> bytes:
    with urlopen(url, timeout=30) as response:
        body: bytes = response.read()
    assert body, f"{url} is empty"
    return body


def check_pages(bin_folder: Path, data: Path) -> None:
    """Start the installed server on a free port, and fetch the pages that are package data."""
    command = [str(bin_folder / "tickover"), "serve", "--attached", "--port", "0", "--data-dir", str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=data) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        assets = re.findall(r'(?:src|href)="([^"#:]+)"', fetch(f"{url}/").decode())
        assert assets, "the console's page refers to no script and no stylesheet"
        for path in (*PATHS, *assets):
            print(f"{path}: {len(fetch(urljoin(f'{url}/', path)))} bytes")
        server.stdin.close()
    assert server.returncode == 0, f"the server ended with exit code {server.returncode}"


def main() -> None:
    [wheel] = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bin_folder = install(wheel.resolve(), folder / "venv")
        (folder / "data").mkdir()
        check_pages(bin_folder, folder / "data")
    print(f"{wheel.name} installs and serves the console.")


if __name__ == "__main__":
    main()
