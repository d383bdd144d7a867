"""`python -m tickover` is `tickover`."""

from tickover.cli import main

main()
