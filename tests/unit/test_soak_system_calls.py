"""The soak's check that writes are on the disk before their responses."""

from soak.system_calls import Verdict, check_responses
from tests.support.cases import each_case

WRITE = '1 pwrite64(14</data/tickover.db-wal>, "\\0\\0"..., 24, 164832) = 24'
SYNC = "1 fdatasync(14</data/tickover.db-wal>) = 0"
SEND = '1 write(18<socket:[37]>, "HTTP/1.1 200 OK\\r"..., 491) = 491'
BACKGROUND_WRITE = WRITE.replace("1 ", "7 ", 1)


def check(*lines: str) -> Verdict:
    return check_responses(lines, lambda file: file.endswith("-wal"), frozenset({"7"}))


@each_case(
    "lines",
    [
        (WRITE, SYNC, SEND),
        (WRITE, WRITE, SYNC, SEND),
        (WRITE, "1 fsync(14</data/tickover.db-wal> <unfinished ...>", "1 <... fsync resumed>) = 0", SEND),
        (WRITE, SYNC.replace("1 ", "2 ", 1), SEND),
        (WRITE, SYNC, BACKGROUND_WRITE, SEND),
        (BACKGROUND_WRITE, SYNC, SEND),
        (WRITE, SYNC, '1 writev(20</data/other>, [{iov_base="x"}], 1) = 1', SEND),
        (WRITE, SYNC, '1 sendmsg(18<socket:[37]>, {msg_iov=[{iov_base="HTTP/1.1 200 OK"}]}, 0) = 15'),
    ],
)
def test_response_after_sync_is_durable(lines: tuple[str, ...]) -> None:
    assert check(*lines) == Verdict(1, [], [])


@each_case(
    "lines",
    [
        (WRITE, SEND),
        (WRITE, SEND, SYNC),
        (WRITE, SYNC, WRITE, SEND),
        (WRITE, SYNC.replace("= 0", "= -1 EIO (Input/output error)"), SEND),
        (WRITE, "2 fsync(14</data/tickover.db-wal> <unfinished ...>", SEND, "2 <... fsync resumed>) = 0"),
        ("2 fsync(14</data/tickover.db-wal> <unfinished ...>", WRITE, "2 <... fsync resumed>) = 0", SEND),
        (WRITE, SYNC.replace("tickover.db-wal", "other-wal"), SEND),
        (BACKGROUND_WRITE, SEND),
    ],
)
def test_response_before_sync_is_too_early(lines: tuple[str, ...]) -> None:
    assert check(*lines) == Verdict(0, [1], [])


def test_each_response_needs_its_own_write() -> None:
    assert check(WRITE, SYNC, SEND, SEND, WRITE, SYNC, SEND) == Verdict(2, [], [2])
