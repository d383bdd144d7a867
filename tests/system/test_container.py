"""`tickover.testing.TickoverContainer`, with the Docker daemon of this machine. Without one, most tests are skipped."""

import io
import os
import re
import socket
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import docker
import pytest
from docker.errors import APIError
from docker.types import Mount

from tests.support.repository import ROOT
from tests.system.ci_page import PAGE
from tickover.client import Tickover
from tickover.testing import TickoverContainer
from tickover.testing.container import IMAGE

pytest_plugins = ["pytester"]

IMAGE_TAG = "tickover-tests"
# The image is empty. Its Python and its Tickover are those of this machine, so that no registry is needed.
FOLDERS = ["/usr", "/lib", "/lib64", sys.base_prefix, sys.prefix, str(ROOT / "src")]
VOLUMES = [(folder, folder, "ro") for folder in FOLDERS if Path(folder).is_dir()]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    daemon = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    with socket.socket(socket.AF_UNIX) as connection:
        # A failed connection of docker.from_env() leaves an open socket.
        if not daemon.startswith("unix://") or connection.connect_ex(daemon.removeprefix("unix://")):
            pytest.skip(f"no Docker daemon at {daemon}")
    client = docker.from_env()
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    changes = [f'CMD ["{sys.executable}", "-m", "tickover", "serve"]', "ENV TICKOVER_DATA_DIR=/data"]
    client.api.import_image_from_data(empty.getvalue(), repository=IMAGE_TAG, changes=changes)
    with closing(client):
        if not sees_folder(client, tmp_path_factory.mktemp("shared")):
            pytest.skip("the Docker daemon runs on another machine, or outside the container of these tests")
        yield IMAGE_TAG
        client.images.remove(IMAGE_TAG, force=True)


def sees_folder(client: docker.DockerClient, folder: Path) -> bool:
    """Return whether the daemon can mount a folder of these tests."""
    try:
        client.containers.create(IMAGE_TAG, mounts=[Mount("/shared", str(folder), type="bind")]).remove()
    except APIError:
        return False
    return True


@pytest.fixture(autouse=True)
def without_ryuk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ryuk, which removes the containers of killed test runs, would come from a registry."""
    monkeypatch.setattr("testcontainers.core.config.testcontainers_config.ryuk_disabled", True)


def test_users_of_a_container_have_their_own_clocks(image: str) -> None:
    with TickoverContainer(image, volumes=VOLUMES) as container:
        with container.client() as ana, container.client("ben@example.test") as ben:
            clock = ana.create_clock(frozen_time="2027-01-01T00:00:00Z")
            assert [found.id for found in ana.list_clocks()] == [clock.id]
            assert list(ben.list_clocks()) == []
            assert ben.current_user().email == "ben@example.test"
        with Tickover(container.url) as anonymous:
            assert anonymous.discover()["info"]["version"] == IMAGE.partition(":")[2]


def test_example_of_the_ci_page_passes(image: str, pytester: pytest.Pytester) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert f'"{IMAGE}"' in example
    pytester.makepyfile(example.replace(f'"{IMAGE}"', f"{image!r}, volumes={VOLUMES!r}"))
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:asyncio").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("docker_host", "settings", "allowed"),
    [
        pytest.param("localhost", {}, "localhost,clocks,tickover", id="usual"),
        pytest.param("docker", {}, "docker,clocks,tickover", id="Docker on another machine"),
        pytest.param("fe80::1", {}, "clocks,tickover", id="an IPv6 address, which needs no permission"),
        pytest.param("localhost", {"TICKOVER_ALLOWED_HOSTS": "mine"}, "mine", id="set"),
        pytest.param("localhost", {"TICKOVER_MAIL_URL": "smtp://mail"}, None, id="without the outbox, any name"),
    ],
)
def test_container_allows_its_own_names(
    monkeypatch: pytest.MonkeyPatch, docker_host: str, settings: dict[str, str], allowed: str | None
) -> None:
    daemon = SimpleNamespace(host=lambda: docker_host)
    monkeypatch.setattr("testcontainers.core.container.DockerClient", lambda **_: daemon)
    container = TickoverContainer(name="clocks", network_aliases=["tickover"], env=settings)
    container._configure()
    assert container.env.get("TICKOVER_ALLOWED_HOSTS") == allowed
