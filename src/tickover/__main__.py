"""Makes `python -m tickover` run the `tickover` command."""

from tickover.cli import main

main()
