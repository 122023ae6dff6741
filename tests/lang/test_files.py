"""Files that digests are made of."""

import os
from pathlib import Path

from sacpy.lang.files import files_in, stamps


def test_files_come_in_the_order_of_their_names_from_the_folders_below_too(tmp_path: Path) -> None:
    for name in ("b.sac", "a.sac", "c.txt", "below/d.sac", "below/e.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    assert [file.name for file in files_in(tmp_path, (".sac", ".h"))] == ["a.sac", "b.sac", "d.sac", "e.h"]
    assert [file.name for file in files_in(tmp_path, (".sac",), deep=False)] == ["a.sac", "b.sac"]


def test_a_stamp_tells_of_every_change(tmp_path: Path) -> None:
    path = tmp_path / "a.sac"
    seen = set()
    for text, when in (("one", 1), ("one", 2), ("three", 2)):
        path.write_text(text, encoding="utf-8")
        os.utime(path, (when, when))
        seen.add(tuple(stamps(files_in(tmp_path, (".sac",)))))
    assert len(seen) == 3
