"""What the documents on tables and on analysis show is what comes out."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["frames.md", "analysis.md", "history.md"])
def test_the_examples_print_what_is_shown(name: str) -> None:
    text = (DOCS / name).read_text()
    names: dict[str, object] = {}
    printed = StringIO()
    with redirect_stdout(printed):
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, name, "exec"), names)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert printed.getvalue() == "".join(shown)
