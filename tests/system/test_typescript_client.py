"""The TypeScript client: its own tests, and the package that would be published."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.chromium import require_chromium
from tests.support.ci_page import run_job
from tests.support.npm_packages import install_project, npm_lock, require_node, require_program
from tests.support.program import Program
from tests.support.transcripts import ROOT

CLIENT = ROOT / "clients" / "typescript"
TOOLS = ROOT / "tests" / "node"
SETTINGS = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
_NODE_MODULES = shutil.ignore_patterns("node_modules")


@pytest.fixture(scope="module", autouse=True)
def build() -> None:
    """Compile the client and its tests in strict mode, unless another process has done it."""
    require_node(20)
    install_project(CLIENT)
    built = CLIENT / "dist" / ".built"
    with npm_lock():
        sources = hash_sources()
        if not built.exists() or built.read_text() != sources:
            run("npm", "run", "build")
            built.write_text(sources)


def hash_sources() -> str:
    digest = hashlib.sha256()
    for file in sorted([*CLIENT.glob("*.json"), *CLIENT.glob("src/*.ts"), *CLIENT.glob("test/*.ts")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def run(*command: str, folder: Path = CLIENT) -> str:
    ran = subprocess.run(
        command, cwd=folder, env=os.environ | SETTINGS, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_client_passes_its_tests() -> None:
    tests = sorted(str(file) for file in (CLIENT / "dist" / "test").glob("*.test.js"))
    assert tests
    run("node", "--test", *tests)


def test_packed_client_runs_elsewhere(tmp_path: Path) -> None:
    run("npm", "pack", "--ignore-scripts", "--pack-destination", str(tmp_path))
    [packed] = tmp_path.glob("*.tgz")
    with tarfile.open(packed) as archive:
        paths = {name.removeprefix("package/") for name in archive.getnames()}
    assert {"README.md", "package.json", "dist/src/index.js", "dist/src/index.d.ts", "dist/src/testing.js"} <= paths
    assert [path for path in paths if "test/" in path or "node_modules" in path] == []
    (tmp_path / "package.json").write_text('{"type": "module"}')
    quiet = ("--no-audit", "--no-fund", "--offline", "--ignore-scripts")
    run("npm", "install", *quiet, str(packed), folder=tmp_path)
    (tmp_path / "use.js").write_text(
        'import { Tickover } from "tickover"; import { start } from "tickover/testing";'
        "console.log(new Tickover().url, typeof start);"
    )
    assert run("node", "use.js", folder=tmp_path) == "http://127.0.0.1:8000 function\n"


@pytest.mark.parametrize("runtime", ["node", "deno"])
def test_examples_of_the_page_print_what_they_show(program: Program, runtime: str) -> None:
    page = (ROOT / "docs" / "typescript.md").read_text("utf-8")
    code = "".join(re.findall(r"^```ts\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)).replace("dora@", f"{runtime}@")
    expected = re.findall(r"console\.log\(.*\); // (.*)$", code, re.MULTILINE)
    assert len(expected) > 8
    # Inside the package, its name refers to itself.
    folder = CLIENT / "dist" / runtime
    folder.mkdir(exist_ok=True)
    (folder / "page.ts").write_text(code.replace("http://127.0.0.1:8000", program.url), "utf-8")
    if runtime == "node":
        options = {"extends": "../../tsconfig.json", "files": ["page.ts"], "include": []}
        (folder / "tsconfig.json").write_text(
            json.dumps(options | {"compilerOptions": {"rootDir": ".", "outDir": "."}})
        )
        run(str(CLIENT / "node_modules" / ".bin" / "tsc"), "-p", str(folder))
        printed = run("node", "page.js", folder=folder)
    else:
        printed = run(require_program("deno", "2.9.6"), "run", "--allow-all", "page.ts", folder=folder)
    # Deno prints strings in double quotes.
    assert printed.replace('"', "'").splitlines() == expected


def test_node_job_of_the_ci_page_passes(tmp_path: Path) -> None:
    install_project(TOOLS)
    example = shutil.copytree(ROOT / "examples" / "node_budget_app", tmp_path / "app", ignore=_NODE_MODULES)
    modules = example / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    (modules / "tickover").symlink_to(CLIENT)
    for name in ("@playwright", ".bin/playwright"):
        (modules / name).symlink_to(TOOLS / "node_modules" / name)
    output = run_job("node", example, CHROMIUM=require_chromium(), NO_COLOR="1")
    assert re.search("pass 2$", output, re.MULTILINE), output
    assert re.search("2 passed", output), output
