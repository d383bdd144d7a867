"""The TypeScript client: its own tests, and the package that would be published."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.chromium import require_chromium
from tests.support.npm_packages import install_project, npm_lock, tools
from tests.support.program import Program
from tests.support.repository import ROOT
from tests.system.ci_page import run_job

CLIENT = ROOT / "clients" / "typescript"
_NODE_MODULES = shutil.ignore_patterns("node_modules")
_PAGE = (ROOT / "docs" / "typescript.md").read_text("utf-8")
_EXAMPLES = "".join(re.findall(r"^```ts\n(.*?)^```$", _PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture(scope="module", autouse=True)
def build() -> None:
    """Compile the client, its tests and the examples in strict mode, unless another process has done it."""
    install_project(CLIENT)
    folder = CLIENT / "dist" / "page"
    built = folder / ".built"
    with npm_lock():
        sources = hash_sources()
        if not built.exists() or built.read_text() != sources:
            folder.mkdir(parents=True, exist_ok=True)
            # Inside the package, its name refers to itself.
            (folder / "page.ts").write_text(_EXAMPLES, "utf-8")
            options = {"extends": "../../tsconfig.json", "files": ["page.ts"], "include": ["../../src", "../../test"]}
            (folder / "tsconfig.json").write_text(json.dumps(options))
            run(str(CLIENT / "node_modules" / ".bin" / "tsc"), "-p", str(folder))
            built.write_text(sources)


def hash_sources() -> str:
    digest = hashlib.sha256(_EXAMPLES.encode())
    for file in sorted([*CLIENT.glob("*.json"), *CLIENT.glob("src/*.ts"), *CLIENT.glob("test/*.ts")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def run(*command: str) -> str:
    ran = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_client_passes_its_tests() -> None:
    tests = sorted((CLIENT / "dist" / "test").glob("*.test.js"))
    assert tests
    for file in tests:
        # With --test, another process would start this one.
        assert " fail 0\n" in run("node", str(file))


@pytest.mark.parametrize("runtime", ["node", "deno"])
def test_examples_of_the_page_print_what_they_show(program: Program, runtime: str) -> None:
    expected = re.findall(r"console\.log\(.*\); // (.*)$", _EXAMPLES, re.MULTILINE)
    assert len(expected) > 8
    compiled = CLIENT / "dist" / "dist" / "page" / "page.js"
    file = compiled if runtime == "node" else CLIENT / "dist" / "page" / "page.ts"
    code = file.read_text("utf-8").replace("http://127.0.0.1:8000", program.url).replace("tomas@", f"{runtime}@")
    own = file.with_stem(f"page-{os.getpid()}")
    own.write_text(code, "utf-8")
    try:
        command = ["node"] if runtime == "node" else [str(tools() / ".bin" / "deno"), "run", "--allow-all"]
        printed = run(*command, str(own))
    finally:
        own.unlink()
    # Deno prints strings in double quotes.
    assert printed.replace('"', "'").splitlines() == [line.replace("tomas@", f"{runtime}@") for line in expected]


def test_node_job_of_the_ci_page_passes_with_the_packed_client(tmp_path: Path) -> None:
    run("npm", "pack", "--ignore-scripts", "--pack-destination", str(tmp_path))
    [packed] = tmp_path.glob("*.tgz")
    example = shutil.copytree(ROOT / "examples" / "node_budget_app", tmp_path / "app", ignore=_NODE_MODULES)
    modules = example / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    subprocess.run(["tar", "xf", packed, "-C", tmp_path], check=True)
    package = tmp_path / "package"
    paths = {str(path.relative_to(package)) for path in package.rglob("*")}
    assert {"README.md", "package.json", "dist/src/index.js", "dist/src/index.d.ts", "dist/src/testing.js"} <= paths
    assert [path for path in paths if "test/" in path or "node_modules" in path] == []
    package.rename(modules / "tickover")
    for name in ("@playwright", ".bin/playwright", "plaid"):
        (modules / name).symlink_to(tools() / name)
    output = run_job("node", example, CHROMIUM=require_chromium(), NO_COLOR="1")
    assert re.search("pass 3$", output, re.MULTILINE), output
    assert re.search("1 passed", output), output
