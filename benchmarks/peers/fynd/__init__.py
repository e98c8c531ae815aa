"""Fynd's two routers that split, written anew from its public description: what it does since version 0.76.

Read in August 2026: the documents ``algorithms/water-fill.md``, ``path-frank-wolfe.md`` and ``bellman-ford.md`` of
propeller-heads/fynd at commits 4f4f3ea2, 5167d62f and 351831b4, and what fynd-core 0.99 and 0.107 say of the sizes.
They run here on this project's exact markets, so that amounts can be compared; their times here say nothing of Fynd's.
"""
