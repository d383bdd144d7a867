"""Faults of the machine: signals, too few file descriptors, an unusable outbox, and a wrong wall clock."""

import asyncio
import resource
import signal
from functools import partial
from pathlib import Path

from lab.soak.faults.fault import fault
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad
from tests.support.debian_packages import require

_FROZEN_SECONDS = 2.0
_SPARE_FILES = 3
_FAKETIME = Path("/usr/lib")


@fault("SIGHUP")
async def send_sighup(servers: Servers, load: WriteLoad) -> None:
    for _ in range(5):
        servers.program.process.send_signal(signal.SIGHUP)
        await load.succeed(5)


@fault("paused process")
async def pause(servers: Servers, _load: WriteLoad) -> None:
    """Stop the process for a while. Waiting callers get their responses later."""
    servers.program.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(_FROZEN_SECONDS)
    servers.program.process.send_signal(signal.SIGCONT)


async def _end_and_start(number: int, servers: Servers, _load: WriteLoad) -> None:
    assert await asyncio.to_thread(servers.program.stop, number) == (-number if number == signal.SIGKILL else 0)
    await asyncio.to_thread(servers.program.start)


fault("SIGTERM and restart")(partial(_end_and_start, signal.SIGTERM))
fault("SIGINT and restart")(partial(_end_and_start, signal.SIGINT))
fault("SIGKILL and restart")(partial(_end_and_start, signal.SIGKILL))


@fault("no file descriptors left", visitors=0)
async def no_file_descriptors(servers: Servers, load: WriteLoad) -> None:
    """Leave only a few file descriptors, and use them up with connections."""
    process = servers.program.process.pid
    before = resource.prlimit(process, resource.RLIMIT_NOFILE)
    used = _open_files(process)
    resource.prlimit(process, resource.RLIMIT_NOFILE, (used + _SPARE_FILES, before[1]))
    address = servers.program.url.removeprefix("http://").split(":")
    connections = [await asyncio.open_connection(address[0], int(address[1])) for _ in range(4 * _SPARE_FILES)]
    try:
        # Callers with open connections are not affected.
        await load.succeed(20)
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)
        for _, writer in connections:
            writer.close()


def _open_files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


@fault("unusable outbox", visitors=0)
async def unusable_outbox(servers: Servers, load: WriteLoad) -> None:
    """A file is where the folder of emails was. No sign-in email can be stored."""
    outbox = servers.program.data / "outbox"
    kept = outbox.with_name("kept")
    outbox.rename(kept)
    outbox.write_text("")
    try:
        params = {"email": "nobody@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
        response = await asyncio.to_thread(servers.program.call, "sendLoginCodeEmail", params)
        assert response["error"]["data"]["reason"] == "MAIL_NOT_SENT", response
        await load.succeed(20)
    finally:
        outbox.unlink()
        kept.rename(outbox)


async def _set_clock(offset: str, servers: Servers, load: WriteLoad) -> None:
    """Run the program with a wall clock that differs. libfaketime reads the offset from a file."""
    file = servers.program.folder / "faketime"
    file.write_text("+0")
    library = require(_find_faketime, "libfaketime")
    variables = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1"}
    with servers.restarted_with(**variables, DONT_FAKE_MONOTONIC="1"):
        for number, current in enumerate(("+0", offset, "+0")):
            file.write_text(current)
            await load.succeed(20)
            await asyncio.to_thread(servers.program.sign_in, f"clock{offset}{number}@example.test")


def _find_faketime() -> str | None:
    return next((str(file) for file in _FAKETIME.glob("*/faketime/libfaketimeMT.so.1")), None)


fault("wall clock set back", visitors=0)(partial(_set_clock, "-3600"))
fault("wall clock set forward", visitors=0)(partial(_set_clock, "+3600"))
