"""After every sync, a client of Plaid has the rows that the clock's owner sees. The soak runs a thousand histories."""

from pathlib import Path

import pytest

from lab.soak.bank_histories import record_round
from lab.soak.linearizability.mail import PlannedMailServer
from lab.soak.linearizability.servers import CUT, KILL, run_servers
from tests.support.mail_servers import run_mail_server


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_syncs_are_exact(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    postgres = request.getfixturevalue("postgres") if store == "postgres" else None
    async with run_mail_server(PlannedMailServer()) as mail, run_servers(tmp_path, postgres, mail.port) as servers:
        for first, fault in enumerate(("", CUT, KILL)):
            await record_round(servers, mail, range(4 * first, 4 * first + 4), fault)
