"""Rooms, floors, arrows and circles: how much there is to hold in mind of one package.

A *room* is a child of a package: a module or a package. An *arrow* leads from a room to another one that it imports
from, however deep inside. A *floor* is a level of the building: the number of rooms on the longest way along arrows. A
*circle* is a set of rooms from each of which arrows lead to every other: none of them can be understood first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx

from tests.architecture.source import ROOT, read_modules


@dataclass(frozen=True)
class FloorPlan:
    """What one package looks like from above.

    Parameters
    ----------
    package : str
        Its dotted name.
    rooms, floors, arrows : int
        How many.
    circles : tuple of tuple of str
        The rooms of each circle by name, sorted.
    """

    package: str
    rooms: int
    floors: int
    arrows: int
    circles: tuple[tuple[str, ...], ...]


def draw_plans(root: Path = ROOT) -> list[FloorPlan]:
    """Return the plan of every package under `root`, by name."""
    graph = join_modules(root)
    packages = {name.rpartition(".")[0] for name in graph} - {""}
    return [draw_plan(graph, package) for package in sorted(packages)]


@cache
def join_modules(root: Path = ROOT) -> nx.DiGraph:
    """Return all modules, with an arrow from each to every module of the tree that it imports."""
    modules = read_modules(root)
    graph = nx.DiGraph()
    graph.add_nodes_from(modules)
    for module in modules.values():
        for source, name in module.imports():
            target = next((t for t in (f"{source}.{name}", source) if t in modules), None)
            if target:
                graph.add_edge(module.name, target)
    return graph


def draw_plan(graph: nx.DiGraph, package: str) -> FloorPlan:
    """Return the plan of one package, from the arrows between all modules."""
    depth = package.count(".") + 2

    def room_of(module: str) -> str | None:
        parts = module.split(".")
        return parts[depth - 1] if module.startswith(f"{package}.") else None

    plan = nx.DiGraph()
    plan.add_nodes_from(filter(None, map(room_of, graph)))
    pairs = ((room_of(one), room_of(other)) for one, other in graph.edges)
    plan.add_edges_from((one, other) for one, other in pairs if one and other and one != other)
    circles = sorted(tuple(sorted(part)) for part in nx.strongly_connected_components(plan) if len(part) > 1)
    floors = nx.dag_longest_path_length(nx.condensation(plan)) + 1 if plan else 0
    return FloorPlan(package, len(plan), floors, plan.number_of_edges(), tuple(circles))
