"""``python -m tests.support.bench_tables FILE`` publishes the last run of a file: its tables in the documents.

Without a file the tables are written anew from the run that is published.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks.reports.document import Run, append_run, read_run
from benchmarks.reports.markdown import write_table
from benchmarks.reports.tables import list_faults, list_group_tables, list_market_tables, list_unsupported, summarise

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "benchmarks" / "published" / "quick.jsonl"
BEGIN, END = "<!-- bench -->", "<!-- /bench -->"


def write_readme(run: Run) -> str:
    """Return what the README shows: the table over everything, and where it is of."""
    _, _, table = write_table(summarise(run)).partition("\n\n")
    asked = sum(len(group["requests"]) for group in run["groups"])
    facts = run["facts"]
    load = facts["load"].split(",")[0]
    busy = (
        " The machine was busy with other things: wall times and starts say little."
        if float(load) > int(facts["cores"])
        else ""
    )
    return (
        f"{asked} requests of the suite `{run['suite']}`, {run['started'][:10]}, commit {facts['commit']}, "
        f"{facts['cores']} cores of {facts['processor']}, load {load} at its end.{busy}\n\n{table}"
    )


def write_document(run: Run) -> str:
    """Return what the page about benchmarks shows: everything but times of groups."""
    tables = [list_faults(run), list_unsupported(run)]
    tables += [next(iter(list_group_tables(run, group["name"]))) for group in run["groups"]]
    tables += list_market_tables(run)
    return "\n".join([write_readme(run), *(write_table(table) for table in tables if table.rows)])


def replace_part(path: Path, text: str) -> str:
    """Return a document with what is between its marks replaced."""
    return re.sub(rf"{BEGIN}\n.*?{END}", lambda _: f"{BEGIN}\n{text.strip()}\n{END}", path.read_text(), flags=re.DOTALL)


def write_documents(run: Run) -> dict[Path, str]:
    """Return the documents as they should be, by path."""
    return {
        ROOT / "README.md": replace_part(ROOT / "README.md", write_readme(run)),
        ROOT / "docs" / "benchmarks.md": replace_part(ROOT / "docs" / "benchmarks.md", write_document(run)),
    }


def main() -> None:
    """Publish."""
    if len(sys.argv) > 1:
        run = read_run(sys.argv[1])
        PUBLISHED.unlink(missing_ok=True)
        append_run(PUBLISHED, run)
    for path, text in write_documents(read_run(str(PUBLISHED))).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
