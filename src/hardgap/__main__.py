"""`python -m hardgap` is `hardgap`."""

from hardgap.cli import main

main()
