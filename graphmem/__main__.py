"""`python -m graphmem` is the `graphmem` program."""

from graphmem.cli import main

main()
