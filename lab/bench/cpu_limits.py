"""Limits processes to equal small shares of the CPU.

On two cores, a load generator, a database and two workers need more than the machine has, so a second worker would add
nothing. With a control group that limits each worker, the workers are the bottleneck.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_TREE = Path("/sys/fs/cgroup")
_PERIOD_MICROS = 100_000
"""The kernel's default. With shorter periods, the cost of stopping processes would dominate."""


class LimitsUnavailable(Exception):
    """Processes can't be limited on this machine."""


@contextmanager
def limit_cpu(share: float, pids: Sequence[int]) -> Iterator[None]:
    """Limit each process to this share of one core. Raise LimitsUnavailable if that is impossible."""
    quota = int(share * _PERIOD_MICROS)
    parents = [_TREE / "cpu", _TREE / "cpu,cpuacct"]
    parent = next((folder for folder in parents if (folder / "cpu.shares").exists()), _TREE)
    with ExitStack() as stack:
        try:
            if parent == _TREE:
                (_TREE / "cgroup.subtree_control").write_text("+cpu")
                files = {"cpu.max": f"{quota} {_PERIOD_MICROS}"}
            else:
                files = {"cpu.cfs_period_us": str(_PERIOD_MICROS), "cpu.cfs_quota_us": str(quota)}
            for pid in pids:
                group = parent / f"tickover-bench-{os.getpid()}-{pid}"
                group.mkdir()
                stack.callback(_remove_group, group)
                for name, content in files.items():
                    (group / name).write_text(content)
                (group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise LimitsUnavailable(f"control groups are not writable ({error.strerror})") from None
        yield


def _remove_group(group: Path) -> None:
    """Move the processes back to the parent group, and remove the group."""
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()
