"""Worker processes: all serve, dead ones are restarted, and none is left after the stop."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.support.metrics import Metrics, parse_metrics, value
from tests.support.program import Program, run_tickover, wait_until


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


def _two_workers(folder: Path, postgres_url: str) -> WorkersProgram:
    settings = {"TICKOVER_WORKERS": "2", "TICKOVER_METRICS_PORT": "0"}
    return WorkersProgram(folder, TICKOVER_DATABASE_URL=postgres_url, **settings)


def _assert_stopped(program: WorkersProgram) -> None:
    wait_until(program.has_ended_wholly)
    assert not _listens(program)
    assert program.output.count("Tickover has stopped.") == 1
    assert "Traceback" not in program.output


def _listens(program: Program) -> bool:
    place = urlsplit(program.url)
    with socket.socket() as caller:
        return caller.connect_ex((place.hostname, place.port)) == 0


def _metrics(program: Program) -> Metrics:
    """Return the metrics, from any worker."""
    [url, *_] = re.findall(r'"metrics": "(http://127\.0\.0\.1:\d+/metrics)"', program.output)
    with urlopen(url) as response:
        assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return parse_metrics(response.read().decode())


def test_signal_stops_all_workers(tmp_path: Path, postgres_url: str) -> None:
    """Ctrl-C, after the workers have served calls, one was killed, and all have ignored SIGHUP."""
    with _two_workers(tmp_path, postgres_url) as program:
        assert len(program.workers()) == 2
        # In the group of the supervisor, a worker would get Ctrl-C twice and stop without waiting.
        assert {os.getpgid(worker) for worker in program.workers()} == program.workers()
        wait_until(lambda: len(program.servers()) == 2)
        token = program.sign_in()
        _check_sums_over_workers(program, token)
        _check_restart(program, token)
        _check_sighup(program)
        _check_starts_that_fail(program, tmp_path)
        assert program.output.count("Press Ctrl-C to stop") == 1

        assert program.stop(signal.SIGINT) == 0
        _assert_stopped(program)


def _check_sums_over_workers(program: WorkersProgram, token: str) -> None:
    """All workers serve the same data, and the metrics of any worker are the sums over all."""
    servers = set()
    for _ in range(20):
        response = program.post({"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": {}}, token)
        servers.add(response.headers["x-request-id"][:16])
        clock = response.json["result"]["clock"]
        params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert program.result("advanceTestClock", params, token) == {"clock": clock}
    assert len(servers) == 2, "both workers were called"
    for _ in range(4):
        metrics = _metrics(program)
        assert value(metrics, "calls_total", method="createTestClock", outcome="OK") == 20
    assert value(metrics, "database_up") == 1
    assert value(metrics, "database_connections", state="open") >= 2
    assert value(metrics, "emails_total", outcome="sent") == 1
    assert value(metrics, "disk_free_bytes") > 0
    assert "tickover_clock_skew_seconds" in {name for name, _ in metrics}


def _check_restart(program: WorkersProgram, token: str) -> None:
    """Workers are restarted after one is killed, the new one while it starts, and then both at once."""
    killed = {min(program.workers())}
    others = program.workers() - killed
    _kill(killed)
    # No pause as in wait_until, because the state is short.
    deadline = time.monotonic() + 60
    while not (started := program.workers() - killed - others):
        assert program.process.poll() is None, program.output
        assert time.monotonic() < deadline, "no worker was started"
    _kill(started)
    killed |= started
    wait_until(lambda: len(program.workers() - killed) == 2)
    both = program.workers()
    _kill(both)
    killed |= both
    wait_until(lambda: len(program.workers() - killed) == 2 and _listens(program))
    wait_until(lambda: len(program.servers()) == 2)
    metrics = _metrics(program)
    assert value(metrics, "worker_restarts_total") == 4
    # The counts of the killed workers are kept.
    assert value(metrics, "calls_total", method="createTestClock", outcome="OK") == 20
    assert "result" in program.call("createTestClock", {}, token)
    assert program.output.count("a worker has ended") == 4


def _kill(workers: set[int]) -> None:
    for worker in workers:
        os.kill(worker, signal.SIGKILL)


def _check_sighup(program: WorkersProgram) -> None:
    workers = program.workers()
    for process in (program.process.pid, *workers):
        os.kill(process, signal.SIGHUP)
    for _ in range(10):
        assert program.request("GET", "/healthz").status == 200
    assert program.workers() == workers


def _check_starts_that_fail(program: WorkersProgram, folder: Path) -> None:
    """A used port is one error, even if the other program uses SO_REUSEPORT."""
    port = urlsplit(program.url).port
    url = program.environment["TICKOVER_DATABASE_URL"]
    flags = ("--port", str(port), "--workers", "2")
    refused = run_tickover(folder, "serve", *flags, TICKOVER_DATABASE_URL=url)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"tickover: Can't listen on 127.0.0.1:{port}: Address already in use.")
    assert refused.stderr.count("\n") == 1

    # A script with background jobs that calls exec, or a container, has other children. Their exit codes are ignored.
    environment = {
        **os.environ, **program.environment, "TICKOVER_PORT": "0",
        "TICKOVER_SECRET_KEY": "another key than that of the data folder",
    }  # fmt: skip
    ended = subprocess.run(
        ["sh", "-c", 'sleep 0 & exec "$0" -m tickover serve', sys.executable],
        env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    assert "another secret key" in ended.stderr


def test_workers_end_with_the_supervisor(tmp_path: Path, postgres_url: str) -> None:
    with _two_workers(tmp_path, postgres_url) as program:
        assert _listens(program)
        program.kill()
        wait_until(program.has_ended_wholly)
        assert not _listens(program)


def test_signal_during_the_start_stops_all_workers(tmp_path: Path, postgres_url: str) -> None:
    program = WorkersProgram(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="4")
    program.launch()
    # No pause as in wait_until, because the state is short.
    deadline = time.monotonic() + 60
    while len(program.workers()) < 2:
        assert program.process.poll() is None, program.output
        assert time.monotonic() < deadline, "no second worker was started"
    assert program.stop() == 0
    wait_until(program.has_ended_wholly)
    program.__exit__()
