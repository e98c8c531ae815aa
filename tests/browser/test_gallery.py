"""Every state of the gallery on the smallest screen: nothing for axe-core, nothing cut off, no word on the console."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.axe import violations
from tests.browser.contexts import Contexts
from tests.browser.gallery.looks import LOOKS, SMALLEST
from tests.browser.gallery.stage import Stage, State, open_stage
from tests.browser.gallery.states import CATALOGUE

WITH_EACH_ROW = "listed"
"""State in which axe-core looks at each token of the list; in others those with equal markup count as one."""


@pytest.fixture(scope="module")
def stage(contexts: Contexts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(contexts, tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest.mark.parametrize("state", CATALOGUE, ids=lambda state: state.name)
def test_a_state_is_sound(stage: Stage, state: State) -> None:
    tab = state.visit(stage, state.make(stage), **SMALLEST.settings)
    tab.inspect(f"gallery-{state.name}", of_each_row=state.name == WITH_EACH_ROW)
    stage.close_tabs()
    assert tab.unexpected == []


def test_a_fault_of_any_row_is_found(stage: Stage) -> None:
    (listed,) = (state for state in CATALOGUE if state.name == WITH_EACH_ROW)
    page = listed.visit(stage, listed.make(stage), **SMALLEST.settings).page
    rows = page.locator("#tokens > li").count()
    assert violations(page) == []
    assert page.locator("#tokens > li").count() == rows > 100
    for number in (0, rows // 2, rows - 1):
        row = page.locator("#tokens > li").nth(number)
        row.evaluate("(row) => row.append(Object.assign(document.createElement('img'), { src: 'data:,' }))")
        (found,) = violations(page)
        assert found.startswith("image-alt: ")
        row.evaluate("(row) => row.lastChild.remove()")
    stage.close_tabs()


def test_names_are_those_of_one_file_each() -> None:
    for names in ([state.name for state in CATALOGUE], [look.name for look in LOOKS]):
        assert len(names) == len(set(names))
