"""A page that moves, brought to where its motion ends."""

from __future__ import annotations

from playwright.sync_api import Page

FINISH = """() => document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime !== Infinity)
  .forEach((each) => each.finish())"""


def end_motion(page: Page) -> None:
    """Put everything that moves once at its end.

    Nothing is waited for: an animation of what is hidden meanwhile, in a closed part of the page, never ends by
    itself.
    """
    page.evaluate(FINISH)
