"""pgbench, running an advance as one plain statement: the speed of the database alone.

The statement is the store's for one clock without its schedule: a conditional update of its row.
"""

import re
import signal
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from lab.bench.load import STEP_SECONDS, Clocks, InvalidSlot
from lab.bench.results import Slot
from tests.support.postgres import PostgresServer
from tickover.server.sign_in.tokens import digest
from tickover.server.storage.postgres.sessions import SETTINGS

_END_SECONDS = 60.0
_FIRST_CALLS = 5
_MIN_SECONDS = 0.3
_MAX_MOVES_BEFORE = 1000
"""More than any client makes before the measurement."""
_CLOCKS_OF_ITS_DAY = "select 'clocks_' || slot from clocks where key = '{}'"

# pgbench can't compute text, so keys and digests of tokens are arrays in the statement, which is planned once.
_SCRIPT = """\
\\set moves :moves + 1
\\set number random(1, {count})
\\set to_time {first} + :moves * {step}
update {clocks} as clocks
set frozen_time = case when :to_time between frozen_time and max_time then :to_time else frozen_time end
where clocks.key = ({keys})[:number] and clocks.owner = (select user_key from tokens where digest = ({tokens})[:number])
returning clocks.key, start_time, frozen_time, max_time;
"""


class PgbenchLoad:
    """Advances of these clocks, as fast as clients of the database can make them."""

    def __init__(self, server: PostgresServer, url: str, clocks: Clocks) -> None:
        self.retries: list[str] = []
        self._server = server
        self._url = url
        self._folder = server.folder
        keys = [id.removeprefix("clock_") for id in clocks.ids]
        table = server.execute(_CLOCKS_OF_ITS_DAY.format(keys[0]), url.rpartition("/")[2])
        self._values = {
            "count": len(keys),
            "step": STEP_SECONDS * 1_000_000,
            "clocks": table,
            "keys": _array(keys, "uuid"),
            "tokens": _array([rf"\\x{digest(token).hex()}" for token in clocks.owning_tokens], "bytea"),
        }
        self._instant = clocks.instant

    def run(self, connections: int, seconds: float) -> Slot:
        try:
            return self._once(connections, max(seconds, _MIN_SECONDS))
        except InvalidSlot as why:
            self.retries.append(f"{connections} clients: {why}")
            return self._once(connections, 3 * max(seconds, _MIN_SECONDS))

    def _once(self, connections: int, seconds: float) -> Slot:
        script = self._folder / "advance.sql"
        script.write_text(_in_one_line(_SCRIPT.format(**self._values, first=self._instant * 1_000_000)))
        output = self._ended_after(seconds, connections, script)
        logs = list(self._folder.glob(f"{script.name}.log.*"))
        if not logs or re.search(r"^number of failed transactions: [1-9]", output, re.MULTILINE):
            raise InvalidSlot(f"pgbench has failed: {output[-2000:]}")
        entries = "".join(log.read_text() for log in logs)
        for log in logs:
            log.unlink()
        slot = read_log(entries, connections)
        # Each client counts its own advances, and all are about equally fast.
        self._instant += STEP_SECONDS * (2 * slot.requests // connections + _MAX_MOVES_BEFORE)
        return slot

    def _ended_after(self, seconds: float, clients: int, script: Path) -> str:
        session = {name: value.replace(" ", "\\ ") for name, value in SETTINGS.items()}
        options = " ".join(f"-c {name}={value}" for name, value in session.items())
        usual = self._server.process_options()
        usual["env"] = {**usual["env"], "PGOPTIONS": options}
        command = [
            str(self._server.bin("pgbench")), "--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=1",
            "--time=600", "--define=moves=0", f"--file={script}", "--log", f"--log-prefix={script}.log", self._url,
        ]  # fmt: skip
        with subprocess.Popen(  # noqa: S603 - constant arguments
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **usual
        ) as pgbench:
            try:
                self._wait_until_busy(pgbench, script)
                time.sleep(seconds)
                # pgbench accepts only whole seconds, but this signal ends it in the same way.
                pgbench.send_signal(signal.SIGALRM)
                output: str = pgbench.communicate(timeout=_END_SECONDS)[0]
                return output
            finally:
                pgbench.kill()

    def _wait_until_busy(self, pgbench: "subprocess.Popen[str]", script: Path) -> None:
        """Wait until pgbench has connected and logged something. To connect many clients takes longer than a slot."""
        deadline = time.monotonic() + _END_SECONDS
        while not any(log.stat().st_size for log in self._folder.glob(f"{script.name}.log.*")):
            if pgbench.poll() is not None or time.monotonic() > deadline:
                return
            time.sleep(0.01)


def read_log(log: str, clients: int) -> Slot:
    """Count the calls between the first calls of all clients, which are planned, and the end of the first client."""
    ends: dict[str, list[float]] = {}
    latencies: list[tuple[float, int]] = []
    for line in log.splitlines():
        client, _, micros, _, second, fraction = line.split()[:6]
        end = int(second) + int(fraction) / 1e6
        ends.setdefault(client, []).append(end)
        latencies.append((end, int(micros)))
    if len(ends) < clients or min(map(len, ends.values())) <= _FIRST_CALLS:
        raise InvalidSlot("pgbench had too little time to measure anything")
    first = max(times[_FIRST_CALLS - 1] for times in ends.values())
    last = min(times[-1] for times in ends.values())
    counted = [micros for end, micros in latencies if first < end <= last]
    return Slot(last - first, len(counted), statistics.median(counted))


def _array(values: Sequence[str], kind: str) -> str:
    return f"'{{{','.join(values)}}}'::{kind}[]"


def _in_one_line(script: str) -> str:
    """Join the lines of the statement, because only a line that starts with a backslash is a command."""
    commands = [line for line in script.splitlines() if line.startswith("\\")]
    statement = " ".join(line.strip() for line in script.splitlines() if not line.startswith("\\"))
    return "\n".join([*commands, statement, ""])
