"""The parsed library that an installation leaves in the package."""

import marshal
from pathlib import Path

import pytest

from sacpy.lang import image, modules
from sacpy.lang.files import PACKAGE, files_in
from sacpy.lang.image import read_image, write_image
from sacpy.lang.source import STDLIB, Source


@pytest.fixture(scope="module")
def parsed() -> dict[str, bytes]:
    library = modules.Library(None, Path("/nowhere"))
    library["Constants"]
    return dict(library._parsed)


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse_file(*_: object, **__: object) -> None:
        raise AssertionError("something is parsed")

    monkeypatch.setattr(modules, "parse_file", parse_file)


def test_the_first_start_takes_the_image_and_the_next_ones_the_cache(
    parsed: dict[str, bytes], tmp_path: Path, no_parser: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_image(parsed, tmp_path / "image")
    cache = tmp_path / "cache"
    assert modules.load_library(cache, tmp_path / "image")["Constants"] == parsed["Constants"]
    assert modules.load_library(None, tmp_path / "image")["Constants"] == parsed["Constants"]
    monkeypatch.setattr(modules, "read_image", lambda _: pytest.fail("the image is read again"))
    assert modules.load_library(cache, tmp_path / "image")["Constants"] == parsed["Constants"]


def test_an_image_of_other_texts_counts_for_nothing(
    parsed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "Changed.sac"
    changed.write_text("module Changed;", encoding="utf-8")
    before = tuple(image.sources())
    monkeypatch.setattr(image, "sources", lambda: (*before, *files_in(tmp_path, (".sac",))))
    write_image(parsed, tmp_path / "image")
    assert read_image(tmp_path / "image") == parsed
    changed.write_text("module ChangeD;", encoding="utf-8")
    assert read_image(tmp_path / "image") == {}


def test_the_installer_leaves_all_modules(tmp_path: Path) -> None:
    modules.install_library(lambda _: {"Array::f/0": True}, tmp_path / "image")
    names = {path.stem for path in STDLIB.glob("*.sac")}
    assert set(read_image(tmp_path / "image")) == names | {modules.EFFECTS}
    library = modules.load_library(None, tmp_path / "image")
    assert library.pure == {"Array::f/0": True} and set(library) == names


def test_the_digest_is_of_the_library_and_of_the_front_end() -> None:
    names = {Path(file.path).relative_to(PACKAGE).as_posix() for file in image.sources()}
    assert {"stdlib/Array.sac", "lang/parser.py", "lang/ast.py", "nodes.py"} <= names


DAMAGED = [b"", b"\x80\x05garbage", marshal.dumps(7), marshal.dumps((("Array", 1000),)), marshal.dumps(((1, 0),))]


@pytest.mark.parametrize("data", [None, *DAMAGED, *(image.contents_digest().encode() + d for d in DAMAGED)])
def test_a_damaged_image_counts_for_nothing(data: bytes | None, tmp_path: Path) -> None:
    if data is not None:
        (tmp_path / "image").write_bytes(data)
    assert read_image(tmp_path / "image") == {}


def test_an_image_serves_wherever_sacpy_lies(parsed: dict[str, bytes]) -> None:
    info = modules.packing().unpacked(parsed["Constants"])
    assert info.span.source.name == str(STDLIB / "Constants.sac")
    assert all(str(STDLIB.parent).encode() not in data for data in parsed.values())
    own = modules.packing().packed(Source("/some/own.sac"))
    assert modules.packing().unpacked(own).name == "/some/own.sac"
