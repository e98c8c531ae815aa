"""Files and functions keep to the sizes of `CONTRIBUTING.md`."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.exceptions import LONG_FILES, WIDE_FUNCTIONS
from tests.architecture.sizes import count_parameters, list_long_files, list_wide_functions


def test_files_are_short() -> None:
    assert set(list_long_files()) == LONG_FILES, (
        "divide the files that are new; take those that are divided off the list"
    )


def test_functions_take_few_parameters() -> None:
    assert set(list_wide_functions()) == WIDE_FUNCTIONS, (
        "gather the parameters of new ones in a value; take the others off the list"
    )


@pytest.mark.parametrize(
    ("signature", "count"),
    [("()", 0), ("(self, a)", 1), ("(a, /, b, *, c)", 3), ("(cls, *args, **kwargs)", 2), ("(a, *, b=1, **more)", 3)],
)
def test_parameters_are_what_a_caller_thinks_of(signature: str, count: int) -> None:
    function = ast.parse(f"def f{signature}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert count_parameters(function) == count
