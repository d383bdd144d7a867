"""The official OpenRPC generator makes a TypeScript client from the document, and the client compiles."""

import subprocess
from pathlib import Path

from tests.support.npm_packages import install_project
from tests.support.repository import ROOT
from tickover.server.rpc.openrpc import describe

TOOLS = ROOT / "tests" / "node"


def run(program: str, *arguments: str, folder: Path) -> None:
    command = [str(TOOLS / "node_modules" / ".bin" / program), *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_generated_client_compiles(tmp_path: Path) -> None:
    install_project(TOOLS)
    (tmp_path / "openrpc.json").write_bytes(describe("http://127.0.0.1:8000"))
    options = ("-t", "client", "-l", "typescript", "-n", "tickover", "-d", "openrpc.json", "-o", ".")
    run("open-rpc-generator", "generate", *options, folder=tmp_path)
    client = tmp_path / "client" / "typescript"
    generated = (client / "src" / "index.ts").read_text("utf-8")
    assert "CreateTestClock" in generated
    # Compiling takes seconds. A new installation of the tools deletes this file.
    last_compiled = TOOLS / "node_modules" / ".compiled-client.ts"
    if not last_compiled.exists() or last_compiled.read_text("utf-8") != generated:
        (client / "node_modules").symlink_to(TOOLS / "node_modules")
        run("tsc", "--noEmit", "--skipLibCheck", "--project", str(client), folder=client)
        last_compiled.write_text(generated, "utf-8")
