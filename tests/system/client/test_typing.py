"""The client and the plugin are typed: mypy accepts correct code and the sample project, and reports wrong code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.repository import ROOT

CORRECT = """
import asyncio
from datetime import UTC, datetime
from decimal import Decimal

from tickover.client import (
    AdvanceResult, AsyncClock, AsyncTickover, Clock, Duration, Email, Fault, Goal, InvalidResponse, NothingLeft, Plan,
    Reason, Rejection, Snapshot, Summary, Tickover, Transaction, Unreachable, contribution, expense, goal, income,
)


def use_sync_client() -> Decimal:
    with Tickover("http://127.0.0.1:8000", token=None, timeout=1, retries=0) as tickover:
        tickover.send_code("ana@example.test")
        email: Email | None = tickover.latest_email("ana@example.test")
        code: str | None = email.code if email else None
        user: str = tickover.log_in("ana@example.test", code or "").user_id
        salary = income(user, 1, "EUR", "2027-01-01T00:00:00Z")
        clock: Clock = tickover.create_clock(Plan(datetime(2027, 1, 1, tzinfo=UTC), [salary]))
        clock = tickover.create_clock(transactions=[expense("Rent", Decimal(1), "EUR", datetime.now(UTC))])
        clock = tickover.create_clock(goals=[goal("Trip", 10.5, 0, [contribution(1, at=datetime.now(UTC))])])
        summaries: list[Summary] = list(tickover.list_clocks())
        try:
            result: AdvanceResult = clock.advance(months=1)
            result = clock.advance(Duration(days=1).add_to(clock.frozen_time))
        except Rejection as rejection:
            faults: tuple[Fault, ...] = rejection.faults
            assert rejection.reason is Reason.TIME_AFTER_MAX, (faults, summaries)
        except (Unreachable, InvalidResponse, NothingLeft) as error:
            print(error)
        pairs: list[tuple[Goal, Decimal]] = [(of, item.amount) for of, item in result.contributions]
        snapshot: Snapshot = clock.preview("2028-01-01T00:00:00Z")
        first: Transaction = snapshot.transactions[0]
        return first.amount + pairs[0][1]


async def use_async_client() -> datetime | None:
    async with AsyncTickover() as tickover:
        clock: AsyncClock = await tickover.create_clock()
        await clock.advance_to_next()
        async for summary in tickover.list_clocks():
            await tickover.delete_clock(summary.id)
        fork: AsyncClock = await clock.fork(at="2028-01-01T00:00:00Z")
        return fork.next_at


asyncio.run(use_async_client())
"""

WRONG = """
from tickover.client import AsyncTickover, Tickover, income

tickover = Tickover(8000)
clock = tickover.create_clock()
clock.advance("x", days=1, foo=2)
clock.advance(days="1")
clock.frozen_time = "later"
income("Salary", "2800", "EUR", "2027-01-01T00:00:00Z")
tickover.log_in("ana@example.test").user_id.real
AsyncTickover().create_clock().advance(days=1)
"""


def test_mypy_accepts_correct_code_and_reports_wrong_code(tmp_path: Path) -> None:
    """One run for all files, because mypy takes seconds to start."""
    project = tmp_path / "budget_app"
    shutil.copytree(ROOT / "examples" / "budget_app", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    (project / "correct.py").write_text(CORRECT)
    (project / "wrong.py").write_text(WRONG)
    # `make clean` deletes the cache.
    mypy = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "budget_app"))
    process = subprocess.run(
        [*mypy, "budget.py", "tests", "correct.py", "wrong.py"],
        cwd=project, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert process.stderr == ""
    assert "(checked 6 source files)" in process.stdout
    reported = {
        (file, int(line)) for file, line in re.findall(r"^([\w/]+)\.py:(\d+): error:", process.stdout, re.MULTILINE)
    }
    wrong = {number for number, line in enumerate(WRONG.splitlines(), 1) if number > 2 and line} - {5}
    assert reported == {("wrong", number) for number in wrong}, process.stdout
