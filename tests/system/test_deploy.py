"""The files in deploy/ are valid for the programs that read them."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.support.debian_packages import require_program
from tests.support.repository import ROOT
from tickover.server.app import _GRACE_SECONDS
from tickover.server.metrics.metrics_server import DatabaseFacts
from tickover.server.metrics.numbers import SharedNumbers, render
from tickover.server.settings import CLIENT_VARIABLES, SETTINGS, read_settings
from tickover.server.storage.admin.statistics import Statistics
from tickover.server.web.handler import wall_clock

DEPLOY = ROOT / "deploy"


def output_of(program: str, *arguments: str, package: str = "", folder: str = "") -> str:
    """Run a program that must succeed, and return its output."""
    command = [require_program(program, package), *arguments]
    ran = subprocess.run(command, cwd=DEPLOY / folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_alerts_fire_when_the_database_mail_or_disk_fails() -> None:
    output_of("promtool", "test", "rules", "alerts_test.yml", package="prometheus", folder="prometheus")


def test_prometheus_accepts_its_configuration() -> None:
    output_of("promtool", "check", "config", "prometheus.yml", package="prometheus", folder="prometheus")


@pytest.mark.parametrize("file", ["prometheus/alerts.yml", "grafana/tickover.json"])
async def test_metrics_and_outcomes_in_the_files_exist(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DEPLOY / file).read_text().replace('\\"', '"')
    facts = DatabaseFacts("sqlite:///x.db", Path(), lambda: asyncio.sleep(0), wall_clock)
    found = Statistics(1, 1, {"users": 1}, 0.5)
    monkeypatch.setattr(facts, "find_statistics", lambda: asyncio.sleep(0, found))
    served = render([*[fact async for fact in facts.read()], *SharedNumbers().read()]).decode()
    metrics = {name.removesuffix("_bucket") for name in re.findall(r"tickover_[a-z_]+", text)}
    assert metrics
    assert [name for name in metrics if f"# TYPE {name} " not in served] == []
    values = {value for found in re.findall(r'(?:outcome|cause)!?=~?"([\w|]+)"', text) for value in found.split("|")}
    assert values
    assert [value for value in values if f'"{value}"' not in served] == []


def test_queries_of_the_dashboard_are_valid(tmp_path: Path) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "tickover.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    rules = [
        {"record": f"query_{number}", "expr": query.replace("$__rate_interval", "1m").replace("$instance", ".*")}
        for number, query in enumerate(queries)
    ]
    assert len(rules) > 20
    # JSON is also YAML.
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    output_of("promtool", "check", "rules", str(tmp_path / "rules.yml"), package="prometheus")
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)


def test_systemd_unit_is_confined() -> None:
    unit = "systemd/tickover.service"
    found = output_of("systemd-analyze", "security", "--offline=true", "--threshold=15", unit, package="systemd")
    assert "Overall exposure level" in found


def _read(file: str, pattern: str) -> list[str]:
    return re.findall(pattern, (DEPLOY / file).read_text(), re.MULTILINE)


def test_servers_have_time_for_the_drain_and_the_last_calls() -> None:
    [deployment, *_] = YAML(typ="safe").load_all(DEPLOY / "kubernetes" / "tickover.yaml")
    pod = deployment["spec"]["template"]["spec"]
    [drain] = [int(v["value"]) for v in pod["containers"][0]["env"] if v["name"] == "TICKOVER_DRAIN_SECONDS"]
    assert pod["terminationGracePeriodSeconds"] > drain + _GRACE_SECONDS
    [drain, seconds] = map(int, _read("systemd/tickover.service", r"(?:DRAIN_SECONDS|^TimeoutStopSec)=(\d+)"))
    assert seconds > drain + _GRACE_SECONDS
    [drain] = map(int, _read("container/Dockerfile", r"TICKOVER_DRAIN_SECONDS=(\d+)"))
    [seconds] = map(int, _read("container/compose.yaml", r"stop_grace_period: (\d+)s"))
    assert seconds > drain + _GRACE_SECONDS


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("haproxy/haproxy.cfg", r"timeout http-keep-alive (\d+)s"),
        ("nginx/tickover.conf", r"^    keepalive_timeout (\d+)s"),
        ("caddy/Caddyfile", r"keepalive (\d+)s"),
    ],
)
def test_proxies_close_idle_connections_before_the_server_does(file: str, pattern: str) -> None:
    [seconds] = map(int, _read(file, pattern))
    assert seconds < read_settings({}, {}).keep_alive_seconds


def test_settings_in_the_files_exist() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"TICKOVER_[A-Z_]*[A-Z]", path.read_text())}
    variables = {variable for setting in SETTINGS for variable in (setting.variable, setting.file_variable)}
    assert "TICKOVER_DATA_DIR" in named
    assert named <= variables | CLIENT_VARIABLES
