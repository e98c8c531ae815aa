"""Write what of the guide follows from the code: ``python -m tests.support.guide``."""

from __future__ import annotations

from tests.support.guide.documents import write_guide


def main() -> None:
    """Write every document and the picture anew."""
    for path, text in write_guide().items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
