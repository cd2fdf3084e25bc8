"""Run the command as ``python -m hiercomp.cli``."""

from hiercomp.cli import main

main()
