"""The secret keys of the servers of one database: there must be only one."""

from datetime import timedelta
from typing import Final

from tickover.api.timestamps import Instant, to_micros
from tickover.server.storage import statements
from tickover.server.storage.rules.steps import Call, Lock, Rule, read, write

_LIFETIME: Final = timedelta(minutes=5)


def share_key(fingerprint: bytes, now: Instant) -> Rule[bool]:
    yield Lock("secret key")
    # A registration from the far future was made by a server with a wrong wall clock.
    live = to_micros(now - _LIFETIME), to_micros(now + _LIFETIME)
    [other] = yield read(Call(statements.FIND_OTHER_KEY, (fingerprint, *live)))
    if other is not None:
        return False
    yield write(
        Call(statements.REGISTER_KEY, (fingerprint, to_micros(now))),
        Call(statements.DELETE_OTHER_KEYS, (fingerprint,)),
    )
    return True
