"""``python -m api.cli`` is ``checkout``."""

from api.cli import main

main()
