"""The parsed library on disk: several installations share the folder, and none takes another's file away at once."""

import os
from pathlib import Path

from sacpy.lang import modules

NO_IMAGE = Path("/nowhere")


def test_other_installations_keep_their_files_and_old_ones_go(tmp_path: Path) -> None:
    for age in range(modules.KEPT + 3):
        other = tmp_path / f"stdlib-{age}.parsed"
        other.write_bytes(b"")
        os.utime(other, (1e9 - age, 1e9 - age))
    modules.load_library(tmp_path, NO_IMAGE)["Constants"]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {modules.parsed_library(tmp_path).name, *(f"stdlib-{age}.parsed" for age in range(modules.KEPT - 1))}


def test_a_damaged_file_is_written_again(tmp_path: Path) -> None:
    path = modules.parsed_library(tmp_path)
    path.write_bytes(b"\x80\x05garbage")
    library = modules.load_library(tmp_path, NO_IMAGE)
    assert library["Array"]
    assert path.stat().st_size > 10_000


def test_only_what_is_asked_for_is_parsed_and_kept(tmp_path: Path) -> None:
    library = modules.load_library(tmp_path, NO_IMAGE)
    assert "String" in library
    assert list(tmp_path.iterdir()) == []
    assert library["Constants"]
    again = modules.Library(modules.parsed_library(tmp_path), NO_IMAGE)
    assert "Constants" in again._parsed
    assert "String" not in again._parsed
    assert library.get("NoSuchModule") is None
    again = modules.load_library(tmp_path, NO_IMAGE)
    again.complete()
    assert again["Constants"] == library["Constants"]
    assert len(modules.Library(modules.parsed_library(tmp_path), NO_IMAGE)._parsed) == len(library)


def test_what_one_program_has_decoded_the_next_finds(tmp_path: Path) -> None:
    library = modules.load_library(tmp_path, NO_IMAGE)
    first, second = (modules.Loader(cache=tmp_path, library=library).load("Constants") for _ in range(2))
    assert first is second
    name = next(iter(first.functions))
    assert first.definitions(name)[0] is second.definitions(name)[0]
