"""The files in deploy/ are valid for the programs that read them."""

import re
import subprocess

from tests.support.debian_packages import require_program
from tests.support.transcripts import ROOT
from tickover.server.metrics.exposition import Facts, render
from tickover.server.metrics.numbers import SharedNumbers
from tickover.server.settings import CLIENT_VARIABLES, SETTINGS
from tickover.server.storage.statistics import Statistics

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


def test_alerts_use_metrics_and_outcomes_that_exist() -> None:
    alerts = (DEPLOY / "prometheus" / "alerts.yml").read_text()
    facts = Facts({"version": "1"}, True, 1, Statistics(1, 1, {"users": 1}, 0.5))
    served = render(SharedNumbers(), facts).decode()
    metrics = set(re.findall(r"tickover_[a-z_]+", alerts))
    assert metrics
    assert [name for name in metrics if f"# TYPE {name} " not in served] == []
    labels = re.findall(r'(?:outcome|cause)!?="\w+"', alerts)
    assert [label for label in labels if label.replace("!=", "=") not in served] == []


def test_systemd_unit_is_confined() -> None:
    unit = "systemd/tickover.service"
    found = output_of("systemd-analyze", "security", "--offline=true", "--threshold=15", unit, package="systemd")
    assert "Overall exposure level" in found


def test_haproxy_accepts_its_configuration() -> None:
    assert "WARNING" not in output_of("haproxy", "-c", "-f", "haproxy/haproxy.cfg")


def test_settings_in_the_files_exist() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"TICKOVER_[A-Z_]*[A-Z]", path.read_text())}
    variables = {variable for setting in SETTINGS for variable in (setting.variable, setting.file_variable)}
    assert "TICKOVER_DATA_DIR" in named
    assert named <= variables | CLIENT_VARIABLES
