"""Worker processes: all serve, dead ones are restarted, and none is left after the stop."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.support.metrics import Metrics, parse_metrics, value
from tests.support.postgres import PostgresServer
from tests.support.program import Program, run_tickover, verify_params, wait_until


class WorkersProgram(Program):
    """A program with several workers. On exit, all processes must have ended."""

    def __init__(self, folder: Path, **environment: str) -> None:
        super().__init__(folder, **environment)
        # All processes inherit the write end, so the read end ends with the last process.
        self._ended, writing = os.pipe()
        self.inherited_files = (writing,)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        wait_until(self.has_ended_wholly)
        os.close(self._ended)

    def launch(self) -> None:
        super().launch()
        os.close(self.inherited_files[0])

    def workers(self) -> set[int]:
        """Return the process ids of the workers."""
        known = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        if known.exists():
            return set(map(int, known.read_text().split()))
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
        return {worker for worker, parent in pairs if parent == self.process.pid}

    def has_ended_wholly(self) -> bool:
        return bool(select.select([self._ended], [], [], 0)[0])

    def servers(self) -> set[str]:
        """Return the request id prefixes of a few calls. Each process has its own prefix."""
        return {self.request("GET", "/healthz").headers["x-request-id"][:16] for _ in range(16)}


@pytest.fixture
def program(tmp_path: Path, postgres: PostgresServer) -> Iterator[WorkersProgram]:
    with _two_workers(tmp_path, postgres) as started:
        yield started


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[WorkersProgram]:
    """For tests that don't stop it. At the end, SIGTERM must stop all processes."""
    with _two_workers(tmp_path_factory.mktemp("workers"), postgres) as started:
        yield started
        assert started.stop(signal.SIGTERM) == 0
        _assert_stopped(started)


def _two_workers(folder: Path, postgres: PostgresServer) -> WorkersProgram:
    settings = {"TICKOVER_WORKERS": "2", "TICKOVER_METRICS_PORT": "0"}
    return WorkersProgram(folder, TICKOVER_DATABASE_URL=postgres.create_database(), **settings)


def _assert_stopped(program: WorkersProgram) -> None:
    wait_until(program.has_ended_wholly)
    assert not _listens(program)
    assert program.output.count("Tickover has stopped.") == 1
    assert "Traceback" not in program.output


def _listens(program: Program) -> bool:
    place = urlsplit(program.url)
    with socket.socket() as caller:
        return caller.connect_ex((place.hostname, place.port)) == 0


def test_all_workers_serve_the_same_data(shared_program: WorkersProgram) -> None:
    program = shared_program
    assert len(program.workers()) == 2
    wait_until(lambda: len(program.servers()) == 2)
    for number in range(10):
        email = f"person{number}@example.test"
        params = verify_params(email, program.send_code(email))
        token = program.result("loginByEmailVerification", params)["token"]
        clock = program.result("createTestClock", {}, token)["clock"]
        asked = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert program.result("advanceTestClock", asked, token) == {"clock": clock}
    assert len(re.findall("Press Ctrl-C to stop", program.output)) == 1


def _metrics(program: Program) -> Metrics:
    """Return the metrics, from any worker."""
    [url, *_] = re.findall(r'"metrics": "(http://127\.0\.0\.1:\d+/metrics)"', program.output)
    with urlopen(url) as response:
        assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return parse_metrics(response.read().decode())


def test_metrics_sum_over_all_workers(shared_program: WorkersProgram) -> None:
    token = shared_program.sign_in("metrics@example.test")
    calls = {"method": "createTestClock", "outcome": "OK"}
    before = value(_metrics(shared_program), "calls_total", **calls)
    servers = set()
    for _ in range(20):
        response = shared_program.post({"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": {}}, token)
        servers.add(response.headers["x-request-id"][:16])
    assert len(servers) == 2, "both workers were called"
    for _ in range(4):
        metrics = _metrics(shared_program)
        assert value(metrics, "calls_total", **calls) == before + 20
    assert value(metrics, "database_up") == 1
    assert value(metrics, "database_connections", state="open") >= 2
    assert value(metrics, "emails_total", outcome="sent") >= 1
    assert value(metrics, "disk_free_bytes") > 0
    assert "tickover_clock_skew_seconds" in {name for name, _ in metrics}


def test_killed_worker_is_restarted(shared_program: WorkersProgram) -> None:
    program = shared_program
    token = program.sign_in("killed@example.test")
    sign_ins = {"method": "loginByEmailVerification", "outcome": "OK"}
    signed_in = value(_metrics(program), "calls_total", **sign_ins)
    before = program.workers()
    for victim in before:
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda victim=victim: victim not in program.workers() and len(program.workers()) == 2)  # type: ignore[misc]
        wait_until(lambda: len(program.servers()) == 2)
    assert not before & program.workers()
    metrics = _metrics(program)
    assert value(metrics, "worker_restarts_total") == 2
    # The counts of the killed workers are kept.
    assert value(metrics, "calls_total", **sign_ins) == signed_in >= 1
    assert "result" in program.call("createTestClock", {}, token)
    assert program.output.count("a worker has ended") == 2


def test_signal_stops_all_workers(program: WorkersProgram) -> None:
    """Ctrl-C. The shared program gets SIGTERM at its end."""
    assert program.stop(signal.SIGINT) == 0
    _assert_stopped(program)


def test_workers_end_with_the_supervisor(program: WorkersProgram) -> None:
    assert _listens(program)
    program.kill()
    wait_until(program.has_ended_wholly)
    assert not _listens(program)


def test_signal_during_the_start_stops_all_workers(tmp_path: Path, postgres_url: str) -> None:
    program = WorkersProgram(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="4")
    program.launch()
    # No pause as in wait_until, because the state is short.
    while len(program.workers()) < 2:
        assert program.process.poll() is None, program.output
    assert program.stop() == 0
    wait_until(program.has_ended_wholly)
    program.__exit__()


def test_sighup_does_not_stop_workers(shared_program: WorkersProgram) -> None:
    workers = shared_program.workers()
    for process in (shared_program.process.pid, *workers):
        os.kill(process, signal.SIGHUP)
    for _ in range(10):
        assert shared_program.request("GET", "/healthz").status == 200
    assert shared_program.workers() == workers


def test_used_port_is_one_error(tmp_path: Path, shared_program: WorkersProgram) -> None:
    """Even if the other program uses SO_REUSEPORT."""
    port = urlsplit(shared_program.url).port
    for workers in ("1", "2"):
        url = shared_program.environment["TICKOVER_DATABASE_URL"]
        flags = ("--port", str(port), "--workers", workers)
        refused = run_tickover(tmp_path, "serve", *flags, TICKOVER_DATABASE_URL=url)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"tickover: Can't listen on 127.0.0.1:{port}: Address already in use.")
        assert refused.stderr.count("\n") == 1
    assert shared_program.workers()


def test_other_children_are_ignored(tmp_path: Path, shared_program: WorkersProgram) -> None:
    """For example, a script with background jobs that calls exec, or a container."""
    script = 'sleep 0 & exec "$0" -m tickover serve'
    environment = {
        **os.environ, **shared_program.environment, "TICKOVER_PORT": "0",
        "TICKOVER_SECRET_KEY": "another key than that of the data folder",
    }  # fmt: skip
    ended = subprocess.run(
        ["sh", "-c", script, sys.executable], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    # The start fails because of the other key. The exit code of the other child must not be used.
    assert ended.returncode == 2, ended.stderr
    assert "another secret key" in ended.stderr
