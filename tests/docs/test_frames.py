"""What the document on tables shows is what comes out."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "frames.md"


def test_its_examples_print_what_it_shows() -> None:
    text = DOCUMENT.read_text()
    names: dict[str, object] = {}
    printed = StringIO()
    with redirect_stdout(printed):
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, str(DOCUMENT), "exec"), names)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert printed.getvalue() == "".join(shown)
