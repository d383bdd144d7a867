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

import pytest

from tests.support.program import Program, run_tickover, verify_params, wait_until


class Crew(Program):
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
def crew(tmp_path: Path, postgres_url: str) -> Iterator[Crew]:
    with Crew(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="2") as started:
        yield started


def _listens(program: Program) -> bool:
    place = urlsplit(program.url)
    with socket.socket() as caller:
        return caller.connect_ex((place.hostname, place.port)) == 0


def test_all_workers_serve_the_same_data(crew: Crew) -> None:
    assert len(crew.workers()) == 2
    wait_until(lambda: len(crew.servers()) == 2)
    for number in range(10):
        email = f"person{number}@example.test"
        params = verify_params(email, crew.send_code(email))
        token = crew.result("loginByEmailVerification", params)["token"]
        clock = crew.result("createTestClock", {}, token)["clock"]
        asked = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert crew.result("advanceTestClock", asked, token) == {"clock": clock}
    assert len(re.findall("Press Ctrl-C to stop", crew.output)) == 1


def test_killed_worker_is_restarted(crew: Crew) -> None:
    token = crew.sign_in()
    before = crew.workers()
    for victim in before:
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda victim=victim: victim not in crew.workers() and len(crew.workers()) == 2)  # type: ignore[misc]
        wait_until(lambda: len(crew.servers()) == 2)
    assert not before & crew.workers()
    assert "result" in crew.call("createTestClock", {}, token)
    assert crew.output.count("a worker has ended") == 2
    assert crew.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_signal_stops_all_workers(crew: Crew, number: int) -> None:
    assert crew.stop(number) == 0
    wait_until(crew.has_ended_wholly)
    assert not _listens(crew)
    assert crew.output.count("Tickover has stopped.") == 1
    assert "Traceback" not in crew.output


def test_workers_end_with_the_supervisor(crew: Crew) -> None:
    assert _listens(crew)
    crew.kill()
    wait_until(crew.has_ended_wholly)
    assert not _listens(crew)


def test_signal_during_the_start_stops_all_workers(tmp_path: Path, postgres_url: str) -> None:
    for started in (2, 4):
        crew = Crew(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="8")
        crew.launch()
        # No pause as in wait_until, because the state is short.
        while len(crew.workers()) < started:
            assert crew.process.poll() is None, crew.output
        assert crew.stop() == 0
        wait_until(crew.has_ended_wholly)
        crew.__exit__()


def test_several_workers_with_sqlite_are_rejected(tmp_path: Path) -> None:
    refused = run_tickover(tmp_path, "serve", "--port", "0", "--workers", "2")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("tickover: TICKOVER_WORKERS must be 1 with SQLite, not 2: ")
    assert refused.stderr.count("\n") == 1


def test_used_port_is_one_error(tmp_path: Path, crew: Crew) -> None:
    """Even if the other program uses SO_REUSEPORT."""
    port = urlsplit(crew.url).port
    for workers in ("1", "2"):
        flags = ("--port", str(port), "--workers", workers, "--database-url", crew.environment["TICKOVER_DATABASE_URL"])
        refused = run_tickover(tmp_path, "serve", *flags)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"tickover: Cannot listen on 127.0.0.1:{port}: Address already in use.")
        assert refused.stderr.count("\n") == 1
    assert crew.workers()


def test_other_children_are_ignored(tmp_path: Path, postgres_url: str) -> None:
    """For example, a script with background jobs that calls exec, or a container."""
    with Crew(tmp_path, TICKOVER_DATABASE_URL=postgres_url, TICKOVER_WORKERS="2"):
        pass  # It has recorded its key.
    script = 'sleep 0 & exec "$0" -m tickover serve'
    environment = {
        **os.environ, "TICKOVER_DATABASE_URL": postgres_url, "TICKOVER_WORKERS": "2", "TICKOVER_PORT": "0",
        "TICKOVER_SECRET_KEY": "another key than that of the data folder",
    }  # fmt: skip
    ended = subprocess.run(
        ["sh", "-c", script, sys.executable], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    # The start fails because of the other key. The exit code of the other child must not be used.
    assert ended.returncode == 2, ended.stderr
    assert "another secret key" in ended.stderr
