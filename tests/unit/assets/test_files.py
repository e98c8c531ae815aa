"""Files by their content: each has one address, and another one when it changes."""

from __future__ import annotations

import gzip
import re
from graphlib import TopologicalSorter
from pathlib import Path

import brotli
import pytest

from api.assets.files import FOLDER, UnknownAsset, load_assets, read_assets
from api.assets.modules import CannotJoin, list_imports
from api.checkout_page.language.strings import LANGUAGES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "main.js").write_text('import { text } from "./text.js";\n// a remark\nconsole.log(text);\n')
    (tmp_path / "pages" / "text.js").write_text('export const text = "hello";\n')
    (tmp_path / "pages" / "page.css").write_text('@import "base.css";\n')
    (tmp_path / "pages" / "base.css").write_text("b { top: 0 }\n" * 50)
    (tmp_path / "pages" / "dot.png").write_bytes(bytes(range(256)) * 4)
    return tmp_path


def test_a_name_has_the_hash_of_what_is_served(folder: Path) -> None:
    before = read_assets(folder).get_named("pages/main.js")
    assert re.fullmatch(r"pages/main\.[0-9a-f]{16}\.js", before.url_name)
    assert "remark" not in before.text
    (folder / "pages" / "text.js").write_text('export const text = "bye";\n')
    after = read_assets(folder).get_named("pages/main.js")
    assert after.url_name != before.url_name
    assert read_assets(folder).get_named("pages/main.js") == after
    (folder / "pages" / "text.js").write_text('// another remark\nexport const text = "bye";\n')
    assert read_assets(folder).get_named("pages/main.js") == after


def test_what_is_imported_is_served_with_what_imports_it_only(folder: Path) -> None:
    assets = read_assets(folder)
    assert set(assets.by_name) == {"pages/main.js", "pages/page.css", "pages/dot.png"}
    with pytest.raises(UnknownAsset, match=r"pages/text\.js is not served"):
        assets.get_named("pages/text.js")


def test_every_encoding_has_the_same_content(folder: Path) -> None:
    sheet = read_assets(folder).get_named("pages/page.css")
    assert brotli.decompress(sheet.bodies["br"]) == gzip.decompress(sheet.bodies["gzip"]) == sheet.text.encode()
    assert len(sheet.bodies["br"]) < len(sheet.text) / 2
    assert set(read_assets(folder).get_named("pages/dot.png").bodies) == {"identity"}


def test_what_is_written_wrongly_is_refused(folder: Path) -> None:
    (folder / "pages" / "text.js").write_text('export const text = "hello;\n')
    with pytest.raises(CannotJoin, match=r"^main\.js: "):
        read_assets(folder)


def test_the_page_has_one_script_with_all_modules_and_one_sheet() -> None:
    served = load_assets().by_name
    scripts = {f"payment/main-{language}.js" for language in LANGUAGES}
    assert {name for name in served if name.endswith((".js", ".css"))} == scripts | {
        "docs/start.js",
        "payment/forced.css",
        "payment/noscript.css",
        "payment/page.css",
        "payment/print.css",
        "payment/single.css",
    }
    page = FOLDER / "payment"
    imported = {other for path in page.glob("*.css") for other in list_imports(path)}
    fetched = {page / f"{name}.css" for name in ("page", "print", "noscript", "forced", "single")}
    assert imported | fetched == set(page.rglob("*.css"))


def test_the_rooms_of_the_page_import_each_other_in_one_direction() -> None:
    page = FOLDER / "payment"
    rooms: dict[str, set[str]] = {}
    for path in page.rglob("*/*.js"):
        others = {other.parent.name for other in list_imports(path)}
        rooms.setdefault(path.parent.name, set()).update(others - {path.parent.name})
    assert rooms["shared"] == set()
    assert next(iter(TopologicalSorter(rooms).static_order())) == "shared"


def test_a_script_has_the_texts_of_its_language_and_the_same_code() -> None:
    texts = {language: load_assets().get_named(f"payment/main-{language}.js").text for language in LANGUAGES}
    words = {language: text.partition(";(()=>")[0] for language, text in texts.items()}
    assert "Price refreshed" in words["en"]
    assert "Price refreshed" not in texts["de"]
    assert len({text.removeprefix(words[language]) for language, text in texts.items()}) == 1
