"""Every state of the gallery on the smallest screen: nothing for axe-core, nothing cut off, no word on the console."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.gallery.looks import LOOKS, SMALLEST
from tests.browser.gallery.stage import Stage, State, open_stage
from tests.browser.gallery.states import CATALOGUE


@pytest.fixture(scope="module")
def stage(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(browser, tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest.mark.parametrize("state", CATALOGUE, ids=lambda state: state.name)
def test_a_state_is_sound(stage: Stage, state: State) -> None:
    tab = state.visit(stage, state.make(stage), **SMALLEST.settings)
    tab.inspect(f"gallery-{state.name}")
    stage.close_tabs()
    assert tab.unexpected == []


def test_names_are_those_of_one_file_each() -> None:
    for names in ([state.name for state in CATALOGUE], [look.name for look in LOOKS]):
        assert len(names) == len(set(names))
