"""Two replicas on one database. test_races.py tests limits and single use with two processes."""

from pathlib import Path

from tests.support.postgres import PostgresServer
from tests.support.program import Program, run_tickover, verify_params
from tests.support.replicas import Replicas

_NO_CLOCK = {"id": "clock_of nobody", "frozenTime": "2027-01-01T00:00:00Z"}


def test_replicas_that_start_concurrently_share_everything(tmp_path: Path, postgres: PostgresServer) -> None:
    with Replicas(tmp_path, postgres, 2) as replicas:
        first, second = replicas.programs
        code = first.send_code("ana@example.test")
        token = second.result("loginByEmailVerification", verify_params("ana@example.test", code))["token"]
        clock = first.result("createTestClock", {}, token)["clock"]
        params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert second.result("advanceTestClock", params, token) == {"clock": clock}

        # Both replicas may have cached the token.
        assert [_reason(program, token) for program in replicas.programs] == ["CLOCK_NOT_FOUND"] * 2
        first.result("logout", {}, token)
        assert [_reason(program, token) for program in replicas.programs] == ["UNAUTHENTICATED"] * 2

        other = {**replicas.environment, "TICKOVER_SECRET_KEY": "quite another one"}
        refused = run_tickover(tmp_path, "serve", "--port", "0", **other)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("tickover: Another server uses this database with another secret key")
        assert refused.stderr.count("\n") == 1
        assert "quite another one" not in refused.stderr


def _reason(program: Program, token: str) -> str:
    return str(program.call("advanceTestClock", _NO_CLOCK, token)["error"]["data"]["reason"])
