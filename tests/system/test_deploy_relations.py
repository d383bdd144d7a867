"""The names, ports, paths and limits that a file in deploy/ shares with the server and with other files."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from ruamel.yaml import YAML

from tests.support.debian_packages import require_program
from tests.support.deploy import DEPLOY, running
from tests.support.ports import free_port
from tests.support.program import Program, wait_until
from tests.support.repository import ROOT
from tickover.server.settings import read_settings
from tickover.server.storage.postgres.database import _POOL_WAIT_SECONDS

_COMPOSE = (DEPLOY / "container" / "compose.yaml").read_text()
_DOCKERFILE = (DEPLOY / "container" / "Dockerfile").read_text()
_MANIFESTS = (DEPLOY / "kubernetes" / "tickover.yaml").read_text()
_UNIT = (DEPLOY / "systemd" / "tickover.service").read_text()
_PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")


def compose() -> Any:
    return YAML(typ="safe").load(_COMPOSE)


def manifests() -> dict[str, Any]:
    return {found["kind"]: found["spec"] for found in YAML(typ="safe").load_all(_MANIFESTS)}


def pod() -> Any:
    return manifests()["Deployment"]["template"]["spec"]


def container() -> Any:
    [container] = pod()["containers"]
    return container


def run_health_check(program: Program) -> int:
    """Run the health check of the image for this program, and return its exit code."""
    [written] = re.findall(r"HEALTHCHECK .*\\\n  CMD (\[.*\])", _DOCKERFILE)
    python, *arguments = json.loads(written)
    assert python == "python"
    port = program.url.rpartition(":")[2]
    ran = subprocess.run([sys.executable, *arguments], env={"TICKOVER_PORT": port}, capture_output=True, check=False)
    return ran.returncode


def test_probes_tell_a_stopping_server_from_a_dead_one(tmp_path: Path) -> None:
    """A failed liveness probe kills the pod, so only the other one may fail during the drain."""
    probes = {name: container()[f"{name}Probe"]["httpGet"] for name in ("readiness", "liveness")}
    assert {probe["port"] for probe in probes.values()} == {"http"}
    with Program(tmp_path, TICKOVER_DRAIN_SECONDS="600") as program:

        def statuses() -> list[int]:
            return [program.request("GET", probes[name]["path"]).status for name in ("readiness", "liveness")]

        assert statuses() == [200, 200]
        assert run_health_check(program) == 0
        program.process.send_signal(signal.SIGTERM)
        wait_until(lambda: statuses()[0] != 200)
        assert statuses() == [503, 200]
        assert run_health_check(program) == 1


def test_proxies_ask_whether_a_server_is_ready() -> None:
    """A server that is stopping is still alive."""
    ready = container()["readinessProbe"]["httpGet"]["path"]
    assert re.findall(r"^ *option httpchk GET (\S+)$", _read("haproxy/haproxy.cfg"), re.MULTILINE) == [ready]
    assert re.findall(r"^\s*health_uri (\S+)$", _read("caddy/Caddyfile"), re.MULTILINE) == [ready]


def test_ports_of_the_manifests_are_those_of_the_server() -> None:
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    settings = {variable["name"]: variable["value"] for variable in container()["env"]}
    assert ports == {"http": read_settings({}, {}).port, "metrics": int(settings["TICKOVER_METRICS_PORT"])}
    assert re.findall(r"^EXPOSE (\d+)$", _DOCKERFILE, re.MULTILINE) == [str(ports["http"])]
    annotations = manifests()["Deployment"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(ports["metrics"])
    assert [port["targetPort"] for port in manifests()["Service"]["ports"]] == ["http"]
    admitted = [port["port"] for rule in manifests()["NetworkPolicy"]["ingress"] for port in rule["ports"]]
    assert admitted == ["http", "metrics"]


def test_manifests_select_the_pods_of_the_deployment() -> None:
    specs = manifests()
    labels = specs["Deployment"]["template"]["metadata"]["labels"]
    assert specs["Deployment"]["selector"]["matchLabels"] == labels
    assert specs["Service"]["selector"] == labels
    assert specs["PodDisruptionBudget"]["selector"]["matchLabels"] == labels
    assert specs["NetworkPolicy"]["podSelector"]["matchLabels"] == labels


def test_pod_runs_as_the_user_of_the_image_without_privileges() -> None:
    [(user, group)] = re.findall(r"^USER (\d+):(\d+)$", _DOCKERFILE, re.MULTILINE)
    context = pod()["securityContext"]
    assert [context[name] for name in ("runAsUser", "runAsGroup", "fsGroup")] == [int(user), int(group), int(group)]
    assert context["runAsNonRoot"] is True
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_image_and_files_have_one_data_folder() -> None:
    [folder] = re.findall(r"^VOLUME (\S+)$", _DOCKERFILE, re.MULTILINE)
    assert f"TICKOVER_DATA_DIR={folder} " in _DOCKERFILE
    assert f"--mode=0700 {folder}\n" in _DOCKERFILE
    assert f"tickover:{folder}" in compose()["services"]["tickover"]["volumes"]
    assert folder in {mount["mountPath"] for mount in container()["volumeMounts"]}


def test_secrets_of_the_pod_are_the_files_of_the_command() -> None:
    [command] = re.findall(r"#   (kubectl create secret generic .*)", _MANIFESTS)
    _, _, _, _, name, *options = shlex.split(command)
    files = {option.removeprefix("--from-file=") for option in options}
    [volume] = [volume for volume in pod()["volumes"] if "secret" in volume]
    assert volume["secret"]["secretName"] == name
    [mount] = [mount for mount in container()["volumeMounts"] if mount["name"] == volume["name"]]
    settings = {variable["name"]: variable["value"] for variable in container()["env"]}
    read = {value for variable, value in settings.items() if variable.endswith("_FILE")}
    assert read == {f"{mount['mountPath']}/{file}" for file in files}


def test_no_pod_is_a_trusted_proxy_by_default() -> None:
    """Every pod in a trusted network can claim to be any client."""
    settings = {variable["name"]: variable["value"] for variable in container()["env"]}
    assert settings["TICKOVER_TRUSTED_PROXIES"] == "192.0.2.0/24"  # a network for documentation


def test_services_of_compose_have_no_privileges() -> None:
    for service in compose()["services"].values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_other_machines_reach_no_service_of_compose() -> None:
    """Everyone could read the emails."""
    ports = [port for service in compose()["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_server_of_compose_waits_for_its_database() -> None:
    services = compose()["services"]
    assert services["tickover"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert "pg_isready" in services["postgres"]["healthcheck"]["test"]


def test_images_and_actions_cannot_be_replaced() -> None:
    """A tag can be moved, a digest or a commit can't. Our own image has no digest yet."""
    ci_page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    images = re.findall(r"(?:image: |ARG BASE=)(\S+)", _COMPOSE + _DOCKERFILE + ci_page)
    pinned = [image for image in images if not image.startswith("registry.example.com/tickover:")]
    assert pinned
    for image in pinned:
        assert re.fullmatch(r"[\w/]+:v?\d+[.]\d[\w.-]*@sha256:[0-9a-f]{64}", image), image
    actions = set(re.findall(r"uses: (.+)", ci_page))
    assert actions
    for action in actions:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+[.]\d+[.]\d+", action), action


def test_services_of_compose_find_each_other() -> None:
    found = compose()
    services = found["services"]
    settings = services["tickover"]["environment"]
    addresses = re.findall(r"\w+://(?:[^@/\s]+@)?([a-z]+)[:/]", re.sub(r"^#.*127.*$", "", _COMPOSE, flags=re.MULTILINE))
    assert set(addresses) <= set(services), addresses
    [scraped] = YAML(typ="safe").load(found["configs"]["prometheus"]["content"])["scrape_configs"]
    [shipped] = YAML(typ="safe").load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    assert scraped["job_name"] == shipped["job_name"]
    assert scraped["static_configs"] == [{"targets": [f"tickover:{settings['TICKOVER_METRICS_PORT']}"]}]
    assert services["tickover"]["ports"] == [f"127.0.0.1:8000:{read_settings({}, {}).port}"]
    for service in services.values():
        assert set(service.get("secrets", [])) <= set(found["secrets"])
        assert {config["source"] for config in service.get("configs", [])} <= set(found["configs"])
    for name in ("TICKOVER_SECRET_KEY_FILE", "TICKOVER_DATABASE_URL_FILE"):
        assert settings[name].removeprefix("/run/secrets/") in services["tickover"]["secrets"]
    for secret in found["secrets"].values():
        assert f"> {secret['file']}\n" in _COMPOSE


def test_unit_reads_the_paths_of_the_page() -> None:
    [command] = re.findall(r"^ExecStart=(\S+) serve$", _UNIT, re.MULTILINE)
    assert f" {command}\n" in _PAGE
    [settings] = re.findall(r"^EnvironmentFile=-(\S+)$", _UNIT, re.MULTILINE)
    assert f"`{settings}`" in _PAGE
    loaded = re.findall(r"^# LoadCredential=([a-z-]+):", _UNIT, re.MULTILINE)
    assert loaded
    assert re.findall(r"=%d/([a-z-]+)", _UNIT) == loaded


def test_unit_starts_a_failed_server_again() -> None:
    """A server that can't reach its database exits."""
    assert re.findall(r"^Restart=(.+)$", _UNIT, re.MULTILINE) == ["on-failure"]


def test_unit_limits_memory_and_tasks() -> None:
    assert set(re.findall(r"^(MemoryMax|TasksMax)=\d+[GM]?$", _UNIT, re.MULTILINE)) == {"MemoryMax", "TasksMax"}


def test_pgbouncer_gives_up_when_the_server_does() -> None:
    """Otherwise a call of a client that has gone still waits for a session."""
    config = RawConfigParser()
    config.read(DEPLOY / "pgbouncer" / "pgbouncer.ini")
    for name in ("query_wait_timeout", "server_connect_timeout"):
        assert config.getint("pgbouncer", name) <= _POOL_WAIT_SECONDS
    assert config.getint("pgbouncer", "default_pool_size") >= read_settings({}, {}).database_connections
    url = re.search(r"TICKOVER_DATABASE_URL=postgresql://\w+:\w+@([^/]+)/(\w+)[.]", _read("pgbouncer/pgbouncer.ini"))
    assert url
    assert url[1] == f"{config['pgbouncer']['listen_addr']}:{config['pgbouncer']['listen_port']}"
    assert url[2] in config["databases"]


def test_patroni_admits_no_superuser_over_the_network() -> None:
    config = YAML(typ="safe").load(_read("patroni/patroni.yml"))
    assert {"auth": "scram-sha-256"} in config["bootstrap"]["initdb"]
    admitted = {rule.split()[2] for rule in config["bootstrap"]["pg_hba"]}
    names = {name: role["username"] for name, role in config["postgresql"]["authentication"].items()}
    assert admitted == {names["replication"], names["rewind"], "tickover"}


def test_patroni_confirms_no_change_without_a_standby() -> None:
    """Otherwise a failover loses confirmed changes."""
    shared = YAML(typ="safe").load(_read("patroni/patroni.yml"))["bootstrap"]["dcs"]
    assert shared["synchronous_mode"] is shared["synchronous_mode_strict"] is True
    assert shared["postgresql"]["parameters"]["synchronous_commit"] == "on"


def _read(file: str) -> str:
    return (DEPLOY / file).read_text()


def test_prometheus_alerts_when_the_server_is_gone(tmp_path: Path) -> None:
    """The alert names the job that the configuration defines."""
    prometheus, port, metrics_port = require_program("prometheus"), free_port(), free_port()
    text = _read("prometheus/prometheus.yml")
    for old, new in {"127.0.0.1:9100": f"127.0.0.1:{metrics_port}", "interval: 15s": "interval: 100ms"}.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "prometheus.yml").write_text(text)
    shutil.copy(DEPLOY / "prometheus" / "alerts.yml", tmp_path)
    options = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address=127.0.0.1:{port}"]

    def ask(path: str) -> Any:
        with urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=60) as response:
            return json.load(response)["data"]

    def is_ready() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=60):
                return True
        except HTTPError as error:
            error.close()
            return False

    with (
        Program(tmp_path, TICKOVER_METRICS_PORT=str(metrics_port)) as program,
        running([prometheus, *options], tmp_path, port),
    ):
        wait_until(is_ready)
        wait_until(lambda: [target["health"] for target in ask("targets")["activeTargets"]] == ["up"])
        program.kill()
        wait_until(lambda: "TickoverDown" in {alert["labels"]["alertname"] for alert in ask("alerts")["alerts"]})
