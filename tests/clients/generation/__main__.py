"""Write what of the clients is generated: ``python -m tests.clients.generation``, or ``make clients``."""

from __future__ import annotations

from tests.clients.generation.python import write_python
from tests.clients.generation.service_document import read_service_document
from tests.clients.generation.typescript import write_typescript


def main() -> None:
    """Write both clients anew."""
    document = read_service_document()
    for path, text in {**write_python(document), **write_typescript(document)}.items():
        path.write_text(text)
        print(path)


if __name__ == "__main__":
    main()
