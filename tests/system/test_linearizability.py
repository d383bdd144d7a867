"""Short histories of concurrent clients on real servers are linearizable. The soak records thousands."""

from pathlib import Path

import pytest

from lab.soak.histories import CUT, serve_with_mail
from lab.soak.linearizability.checker import Verdict
from lab.soak.linearizability.judge import judge
from lab.soak.linearizability.rounds import record_round


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_histories_with_lost_connections_are_linearizable(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    postgres = request.getfixturevalue("postgres") if store == "postgres" else None
    async with serve_with_mail(tmp_path, postgres) as (servers, mail):
        histories = await record_round(servers, mail, range(2))
        histories += await record_round(servers, mail, range(2, 4), CUT)
    assert {history.subject for history in histories} == {"clocks", "logins"}
    assert CUT in {history.fault for history in histories}
    for history in histories:
        assert judge(history) is Verdict.LINEARIZABLE, str(history)
