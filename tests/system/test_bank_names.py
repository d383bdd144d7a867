"""Unmodified apps reach the bank under the names of real banks: the recipes in docs/bank.md run.

Each runs in its own network, in which port 443 is free, and with its own /etc/hosts.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from tests.support.debian_packages import require_program
from tests.support.repository import ROOT
from tickover.server.bank.bank_names import PREFIXES

PAGE: Final = (ROOT / "docs" / "bank.md").read_text("utf-8")
_HOSTS: Final = "127.0.0.1 localhost\n"
_START: Final = """
ip link set lo up
mount --bind "$PWD/hosts" /etc/hosts
sudo() { "$@"; }
wait_for_server() {
    timeout 100 sh -c 'until curl --fail --silent --output ready http://127.0.0.1:8000/readyz; do sleep 0.1; done'
}
set -e
"""
_CONNECT: Final = """
export TICKOVER_TOKEN=$(tickover token create ci@example.test --name ci)
tickover clock create salary-and-rent --from 2027-01-05 > created
"""
_EXCHANGE: Final = "https://sandbox.plaid.com/item/public_token/exchange"
_APPS: Final = {
    "app.py": f"""
import sys, requests
keys = {{"client_id": "any", "secret": "any", "public_token": sys.argv[1]}}
print(requests.post("{_EXCHANGE}", json=keys).json()["access_token"])
""",
    "app.mjs": f"""
const keys = {{ client_id: "any", secret: "any", public_token: process.argv[2] }};
const headers = {{ "Content-Type": "application/json" }};
const response = await fetch("{_EXCHANGE}", {{ method: "POST", headers, body: JSON.stringify(keys) }});
console.log((await response.json()).access_token);
""",
    "app.go": f"""
package main

import ("fmt"; "io"; "net/http"; "os"; "strings")

func main() {{
	keys := `{{"client_id": "any", "secret": "any", "public_token": "` + os.Args[1] + `"}}`
	response, err := http.Post("{_EXCHANGE}", "application/json", strings.NewReader(keys))
	if err != nil {{ panic(err) }}
	body, _ := io.ReadAll(response.Body)
	fmt.Println(string(body))
}}
""",
}
_RUN_APPS: Final = """
python app.py "$(tickover clock connect --plaid)" >> output
node app.mjs "$(tickover clock connect --plaid)" >> output
"""


def block(start: str, kind: str) -> str:
    """Return the only example of the page that begins with this text."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    found: str
    [found] = [text for written, text in blocks if written == kind and text.startswith(start)]
    return found


def run_isolated(folder: Path, script: str, **variables: str) -> str:
    """Run a script in a network and with a hosts file of its own. Return what its apps have printed."""
    for program, package in (("unshare", "util-linux"), ("ip", "iproute2"), ("jq", "jq"), ("curl", "curl")):
        require_program(program, package)
    (folder / "hosts").write_text(_HOSTS)
    for name, text in _APPS.items():
        (folder / name).write_text(text)
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    ran = subprocess.run(
        # The kernel ends the server with the script.
        ["unshare", *rights, "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", _START + script],
        cwd=folder, env=inherited | {"XDG_CONFIG_HOME": str(folder)} | variables,
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    if "unshare failed" in ran.stderr:
        pytest.skip(f"this system allows no namespaces: {ran.stderr}")
    log = folder / "tickover.log"
    assert ran.returncode == 0, ran.stdout + ran.stderr + (log.read_text() if log.exists() else "")
    return (folder / "output").read_text()


def test_apps_started_from_a_shell_reach_the_bank(tmp_path: Path) -> None:
    serve = block("TICKOVER_BANK_HTTPS", "sh").rstrip()
    shell = block("export TICKOVER_BANK_HTTPS", "sh")
    script = f"{serve} > tickover.log 2>&1 &\nwait_for_server\n{shell}\n{_CONNECT}\n{_RUN_APPS}"
    script += """
printf '%s' "$(tickover clock connect --simplefin)" | base64 --decode > claim
curl --silent --request POST --data '' "$(cat claim)" > access
curl --silent "$(cat access)/accounts" | jq --raw-output '.accounts[].org."sfin-url"' >> output
"""
    libfaketime = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if libfaketime:
        faked = f"LD_PRELOAD={libfaketime} FAKETIME='@2045-01-01 00:00:00'"
        script += f'{faked} python app.py "$(tickover clock connect --plaid)" >> output\n'
    if shutil.which("go"):
        script += 'go run app.go "$(tickover clock connect --plaid)" | jq --raw-output .access_token >> output\n'
    plaid, node, simplefin, *others = run_isolated(tmp_path, script, TZ="UTC").splitlines()
    assert all(token.startswith("access-sandbox-") for token in (plaid, node, *others))
    assert simplefin == "https://bridge.simplefin.org/simplefin"
    assert (tmp_path / "claim").read_text().startswith("https://bridge.simplefin.org/simplefin/claim/")


def test_apps_of_github_actions_reach_the_bank(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = YAML(typ="safe").load(block("- run: |\n", "yaml"))
    script = ""
    for step in steps:
        settings = " ".join(f"{name}={value}" for name, value in step["env"].items())
        # Each step is a shell of its own. Other steps see only what is in the file.
        script += f"({settings and 'export ' + settings}; set -e\n{step['run']})\n"
    script += f"set -a; . ./github_env; set +a\n{_CONNECT}\n{_RUN_APPS}"
    (tmp_path / "github_env").touch()
    tokens = run_isolated(tmp_path, script, GITHUB_ENV=str(tmp_path / "github_env")).splitlines()
    assert [token[:15] for token in tokens] == ["access-sandbox-"] * 2


def test_apps_in_compose_reach_the_bank(tmp_path: Path) -> None:
    services = YAML(typ="safe").load(block("services:\n", "yaml"))["services"]
    server, app = services["tickover"], services["app"]
    aliases = server["networks"]["default"]["aliases"]
    # Nothing answers yet for Enable Banking.
    assert set(aliases) >= PREFIXES.keys() - {"localhost", "api.enablebanking.com"}
    [mount] = app["volumes"]
    certificates = tmp_path / "data" / mount["volume"]["subpath"]
    script = "\n".join([
        *[f"echo 127.0.0.1 {name} >> /etc/hosts" for name in aliases],
        "TICKOVER_DATA_DIR=data tickover serve --host 0.0.0.0 > tickover.log 2>&1 &",
        "wait_for_server",
        *[f"unset {name}" for name in server["environment"]],
        "export TICKOVER_DATABASE_URL=sqlite:///data/tickover.db",
        _CONNECT,
        *[f"export {name}={str(value).replace(mount['target'], str(certificates))}"
          for name, value in app["environment"].items()],
        _RUN_APPS,
    ])  # fmt: skip
    tokens = run_isolated(tmp_path, script, **server["environment"]).splitlines()
    assert [token[:15] for token in tokens] == ["access-sandbox-"] * 2
