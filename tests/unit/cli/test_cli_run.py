"""Which server a command uses, and which token it sends there."""

from pathlib import Path

import pytest

from tickover.cli.cli_run import DEFAULT_URL, CliRun
from tickover.cli.credentials import Credentials, config_folder

LAST = "https://last.example.test"
OTHER = "https://other.example.test"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment of a user who has signed in at LAST."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("TICKOVER_URL", "TICKOVER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    Credentials(config_folder()).update(LAST, token="tko_of_last", is_sign_in=True)
    return monkeypatch


@pytest.mark.parametrize(
    ("option", "variables", "url", "token"),
    [
        ("", {}, LAST, "tko_of_last"),
        ("", {"TICKOVER_URL": OTHER}, OTHER, None),
        (OTHER, {"TICKOVER_URL": LAST}, OTHER, None),
        ("", {"TICKOVER_TOKEN": "tka_mine"}, DEFAULT_URL, "tka_mine"),
        ("", {"TICKOVER_TOKEN": "tka_mine", "TICKOVER_URL": OTHER}, OTHER, "tka_mine"),
        (OTHER, {"TICKOVER_TOKEN": "tka_mine"}, OTHER, "tka_mine"),
    ],
)
def test_a_token_is_sent_only_to_its_server(
    environment: pytest.MonkeyPatch, option: str, variables: dict[str, str], url: str, token: str | None
) -> None:
    for name, value in variables.items():
        environment.setenv(name, value)
    run = CliRun()
    run.url_option = option
    with run.client(run.token) as client:
        assert (run.url, client.url, client.token) == (url, url, token)


def test_login_ignores_the_last_server(environment: pytest.MonkeyPatch) -> None:
    assert CliRun().login_url == DEFAULT_URL
    environment.setenv("TICKOVER_URL", f"{OTHER}/")
    assert CliRun().login_url == OTHER
