"""Run the command as ``python -m hiercomp``."""

from hiercomp.cli import main

main()
