"""Imports the server and the commands, and loads the server's pages, for processes that are forked from this one.

It imports what most of them use, even what they import only when they need it.
"""

import gc

import jinja2  # noqa: F401

import tickover.cli.call_errors
import tickover.cli.commands.auth
import tickover.cli.commands.clock_commands
import tickover.cli.commands.follow
import tickover.cli.commands.list_clocks
import tickover.cli.commands.money_commands
import tickover.cli.commands.serve
import tickover.cli.credentials
import tickover.cli.render.amounts
import tickover.cli.render.clock_text
import tickover.cli.root
import tickover.cli.run_server
import tickover.client.webhooks
import tickover.server.storage.postgres.store  # noqa: F401
from tickover.client import Tickover
from tickover.server.rpc.openrpc import describe
from tickover.server.web.pages import compress, console_pages

# Every server caches the parts that don't depend on its URL.
describe("http://127.0.0.1")
for page in console_pages().values():
    compress(page)

# A client imports its HTTP library when it opens.
Tickover("http://127.0.0.1:9").close()

# A forked process that searches or frees these objects would copy their memory.
gc.freeze()
