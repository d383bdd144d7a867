"""A Tickover server in a Docker container, for testcontainers. It needs the extra `testcontainers`."""

from typing import Any, Final
from uuid import uuid4

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

from tickover import __version__
from tickover.client import Tickover
from tickover.testing import LIMITS

IMAGE: Final = f"tickover:{__version__}"
PORT: Final = 8000


class TickoverContainer(DockerContainer):
    """A container that is ready when its context is entered, and removed at its end.

    It stores emails instead of sending them, so that tests can sign in any user.
    """

    def __init__(self, image: str = IMAGE, **options: Any) -> None:
        super().__init__(image, **options)
        settings = {"TICKOVER_HOST": "0.0.0.0", "TICKOVER_PORT": str(PORT), "TICKOVER_MAIL_URL": "outbox:"}  # noqa: S104
        self.env = settings | LIMITS | self.env
        self.with_exposed_ports(PORT)
        self.waiting_for(HttpWaitStrategy(PORT, "/readyz"))

    def _configure(self) -> None:
        """Allow the names by which tests and other containers reach this one. An outbox accepts no other names."""
        names = [self.get_docker_client().host(), self._name or "", *(self._network_aliases or ())]
        if self.env["TICKOVER_MAIL_URL"] == "outbox:":
            # IP addresses are always accepted. The colons of one would be invalid here.
            self.env.setdefault("TICKOVER_ALLOWED_HOSTS", ",".join(name for name in names if ":" not in name))

    @property
    def url(self) -> str:
        """The server's address, as tests on this machine reach it."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(PORT)}"

    def client(self, email: str | None = None) -> Tickover:
        """Return a client signed in with this email address, or with a new one. Close it after use.

        Raise NoCode if the settings of the container don't store emails.
        """
        with Tickover(self.url) as client:
            token = client.sign_in(email or f"user-{uuid4().hex}@example.test").token
        return Tickover(self.url, token)
