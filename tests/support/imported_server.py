"""Imports the server and loads its pages, for processes that are forked from this one."""

import gc

import tickover.cli.commands.serve
import tickover.cli.root
import tickover.cli.run_server  # noqa: F401
from tickover.server.http.pages import load_pages
from tickover.server.openrpc import describe

# Every server caches the parts that don't depend on its URL.
load_pages(describe("http://127.0.0.1"))

# A forked process that searches or frees these objects would copy their memory.
gc.freeze()
