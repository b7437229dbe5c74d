"""`python -m hybridenv` is the command line."""

from hybridenv.cli import main

main()
