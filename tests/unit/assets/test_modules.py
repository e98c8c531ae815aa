"""Joining modules: the result does what the modules did, and what is not understood is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import minify
import pytest

from api.assets.modules import CannotJoin, join_script, join_stylesheet

NODE = Path(sys.executable).parent / "node"
COUNT = """
console.log("count");
export const step = 2;
let total = 0;
export function next() { total += step; return total; }
"""
FIRST = """
import { next } from "./count.js";
const own = "its own";
export async function one(total = own) { return `${total} ${next()}`; }
"""
SECOND = """
import { next, step } from "./count.js";
// import("./nothing.js") is a comment
export class Two { #private = 0; get value() { return next() + this.#private; } }
export function* all() { yield step; }
"""
MAIN = """
import "./aside.js";
import { one } from "./first.js";
import {
  Two,
  all,
} from "./second.js";
const n = 0;
console.log(n, new Two().value, ...all(), this === undefined);
one().then((text) => console.log(text.replace(/[/*"]/, "'")));
"""


def write(folder: Path, **files: str) -> Path:
    """Write modules, and return the one that is called main."""
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text)
    return folder / "main.js"


def run(path: Path) -> str:
    done = subprocess.run([NODE, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_joined_script_does_what_the_modules_do(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    entry = write(tmp_path, count=COUNT, first=FIRST, second=SECOND, main=MAIN, aside='console.log("aside");')
    joined, small = tmp_path / "joined.js", tmp_path / "small.js"
    joined.write_text(join_script(entry))
    small.write_text(minify.string("text/javascript", joined.read_text()))
    assert run(entry) == "aside\ncount\n0 2 2 true\nits own 4\n"
    assert run(joined) == run(small) == run(entry)
    assert joined.read_text().count('console.log("count")') == 1


@pytest.mark.parametrize(
    "line",
    [
        "export default class {}",
        "export let changing = 1;",
        "export { a };",
        'export * from "./other.js";',
        'import other from "./other.js";',
        'import * as other from "./other.js";',
        'import { other as another } from "./other.js";',
        'import { another } from "./other.js";',
        'import { other } from "elsewhere";',
        'import { other } from "../other";',
        'const other = await import("./other.js");',
        "const here = import.meta.url;",
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, line: str) -> None:
    entry = write(tmp_path, other="export const other = 1;\n", main=f"{line}\n")
    with pytest.raises(CannotJoin, match=r"^main\.js: "):
        join_script(entry)


def test_a_module_has_one_path_whoever_imports_it(tmp_path: Path) -> None:
    (tmp_path / "rooms").mkdir()
    (tmp_path / "package.json").write_text('{"type": "module"}')
    write(tmp_path / "rooms", one='import { step } from "../step.js";\nexport const one = step;\n')
    entry = write(
        tmp_path,
        step='console.log("once");\nexport const step = 1;\n',
        main='import { step } from "./step.js";\nimport { one } from "./rooms/one.js";\nconsole.log(one + step);\n',
    )
    plain = run(entry)
    joined = tmp_path / "joined.js"
    joined.write_text(join_script(entry))
    assert run(joined) == plain == "once\n2\n"


def test_a_circle_of_imports_is_refused(tmp_path: Path) -> None:
    entry = write(tmp_path, main='import "./one.js";', one='import "./two.js";', two='import "./one.js";')
    with pytest.raises(CannotJoin, match=r"one\.js → two\.js → one\.js"):
        join_script(entry)


def test_a_name_with_two_meanings_is_refused(tmp_path: Path) -> None:
    entry = write(tmp_path, main='import "./one.js";\nconst step = 1;\n', one="export async function step() {}\n")
    with pytest.raises(CannotJoin, match=r"main\.js: step is declared in one\.js too"):
        join_script(entry)


def test_a_module_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotJoin, match=r"gone\.js is imported, but not there"):
        join_script(write(tmp_path, main='import "./gone.js";'))


def test_sheets_are_joined_in_order_and_keep_their_media(tmp_path: Path) -> None:
    (tmp_path / "base.css").write_text("b { top: 0 }\n")
    (tmp_path / "print.css").write_text("p { top: 1 }\n")
    entry = tmp_path / "page.css"
    entry.write_text('@import "base.css";\n@import "print.css" print;\ni { top: 2 }\n')
    assert " ".join(join_stylesheet(entry).split()) == "b { top: 0 } @media print { p { top: 1 } } i { top: 2 }"


@pytest.mark.parametrize(
    "text", ['i { background: url("a.svg") }', '@import url("a.css");', "</style>", '@charset "utf-8";']
)
def test_a_sheet_that_would_mean_something_else_is_refused(tmp_path: Path, text: str) -> None:
    entry = tmp_path / "page.css"
    entry.write_text(text)
    with pytest.raises(CannotJoin, match=r"^page\.css: "):
        join_stylesheet(entry)


def test_pictures_inside_a_sheet_stay(tmp_path: Path) -> None:
    entry = tmp_path / "page.css"
    entry.write_text('i { background: url("data:image/svg+xml,x"); filter: url(#soft) }')
    assert join_stylesheet(entry) == entry.read_text()
