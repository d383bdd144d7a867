"""A mail server that accepts, rejects or hangs up on emails as planned for each address."""

# ruff: noqa: N802 - the name of the command is the library's own

import re
from collections import defaultdict
from typing import Literal

from aiosmtpd.smtp import SMTP, Envelope, Session

from lab.soak.linearizability.history import Delivery
from tests.support.mail_servers import Accepted, MailServer, hang_up

Reply = Literal["accepted", "rejected", "none"]
_LINK = re.compile(r"/login#token=([\w-]+)")


class PlannedMailServer(MailServer):
    """`deliveries` has the emails to each address in the order of their arrival."""

    def __init__(self) -> None:
        super().__init__()
        self.deliveries: dict[str, list[Delivery]] = defaultdict(list)
        self.planned: dict[str, list[Reply]] = {}
        """Replies to the next emails to an address. All later emails are accepted."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        [address] = envelope.rcpt_tos
        planned = self.planned.get(address)
        reply = planned.pop(0) if planned else "accepted"
        self.deliveries[address].append(_read(Accepted(envelope.content, False, None), reply))
        if reply == "none":
            await hang_up(server)
        return "250 accepted" if reply == "accepted" else "550 rejected"


def _read(email: Accepted, reply: Reply) -> Delivery:
    if email.code.isdigit():
        return Delivery("code", email.code, reply)
    return Delivery("link", _LINK.findall(email.text())[0], reply)
