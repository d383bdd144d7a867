"""docs/ci.md: its files are valid, and its jobs pass."""

import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from tests.support.program import Program
from tests.support.repository import ROOT
from tests.system.ci_page import FILES, run_job
from tickover.server.settings import read_settings
from tickover.server.web.host_check import HostCheck

SCHEMAS = {
    ".github/workflows/tests.yml": "github-workflows",
    ".github/workflows/service.yml": "github-workflows",
    ".gitlab-ci.yml": "gitlab-ci",
    "compose.yaml": "compose-spec",
}


@pytest.mark.parametrize("schema", sorted(set(SCHEMAS.values())))
def test_files_match_the_public_schemas(schema: str, tmp_path: Path) -> None:
    from check_jsonschema import main as check_jsonschema  # type: ignore[import-untyped]

    assert FILES.keys() == SCHEMAS.keys()
    files = [tmp_path / Path(file).name for file in SCHEMAS if SCHEMAS[file] == schema]
    for file in files:
        file.write_text(next(FILES[path] for path in FILES if Path(path).name == file.name))
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    ran = CliRunner().invoke(check_jsonschema, ["--builtin-schema", f"vendor.{schema}", *transform, *map(str, files)])
    assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize("file", [".github/workflows/service.yml", ".gitlab-ci.yml", "compose.yaml"])
def test_service_accepts_the_name_that_its_tests_use(file: str) -> None:
    variables = dict(re.findall(r'(TICKOVER_\w+): "?([^"\s]+)', FILES[file]))
    # The image listens on all addresses.
    settings = read_settings({"TICKOVER_HOST": "0.0.0.0"} | variables, {})
    HostCheck(settings).check(urlsplit(variables["TICKOVER_URL"]).netloc.encode())


def test_python_job_passes(tmp_path: Path) -> None:
    project = tmp_path / "budget_app"
    shutil.copytree(ROOT / "examples" / "budget_app", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "tickover.pytest_plugin"}
    assert " 16 passed" in run_job("python", project, **plugins)


def test_shared_server_job_needs_no_email_and_deletes_only_its_own_clocks(program: Program, tmp_path: Path) -> None:
    session = program.sign_in("ci@example.test")
    token = program.result("createAccessToken", {"name": "ci"}, session)["token"]
    other_run = program.result("createTestClock", {"labels": {"run": "2"}}, token)["clock"]["id"]

    variables = {"TICKOVER_URL": program.url, "TICKOVER_TOKEN": token, "XDG_CONFIG_HOME": str(tmp_path)}
    output = run_job("shared-server", tmp_path, GITHUB_RUN_ID="1", **variables)
    assert output.count("Deleted clock_") == 1, output
    assert [clock["id"] for clock in program.result("listTestClocks", {}, session)["clocks"]] == [other_run]
