"""Pictures: PNG and PPM files, and displays."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from sacpy.interp import png
from sacpy.interp.natives.pictures import half_blocks
from tests.tools import run_file, run_text

USES = "use StdIO: all; use Array: all; use Color8: all; use PNG: all; use PPM: all; use SDLdisplay: all;\n"
RANDOM = np.random.default_rng(1)


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def file_of(
    rows: bytes, width: int, height: int, depth: int, colours: int, palette: bytes = b"", interlaced: int = 0
) -> bytes:
    """A PNG file made by hand: `rows` with their filter bytes."""
    head = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, interlaced)
    extra = chunk(b"PLTE", palette) if palette else b""
    return png.SIGNATURE + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (13, 17)])
def test_a_picture_comes_back_as_it_was(shape: tuple[int, int]) -> None:
    picture = RANDOM.integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert np.array_equal(png.decode(png.encode(picture)), picture)


def filtered(picture: png.Picture, kind: int) -> bytes:
    """The rows of a picture through one of the standard's filters, byte by byte as the standard puts it."""
    rows = picture.reshape(picture.shape[0], -1).astype(int)
    out = bytearray()
    for y, row in enumerate(rows):
        out.append(kind)
        for x, value in enumerate(row):
            a = int(row[x - 3]) if x >= 3 else 0
            b = int(rows[y - 1][x]) if y else 0
            c = int(rows[y - 1][x - 3]) if y and x >= 3 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((int(value) - (0, a, b, (a + b) // 2, nearest)[kind]) % 256)
    return bytes(out)


@pytest.mark.parametrize("kind", range(5))
def test_every_filter_is_undone(kind: int) -> None:
    picture = RANDOM.integers(0, 256, (6, 5, 3), dtype=np.uint8)
    assert np.array_equal(png.decode(file_of(filtered(picture, kind), 5, 6, 8, 2)), picture)


def test_other_colour_types_become_colours() -> None:
    assert png.decode(file_of(b"\0\x80\xff", 2, 1, 8, 0)).tolist() == [[[128] * 3, [255] * 3]]
    assert png.decode(file_of(b"\0\xa0", 3, 1, 1, 0)).tolist() == [[[255] * 3, [0] * 3, [255] * 3]]
    assert png.decode(file_of(b"\0\x1b", 4, 1, 2, 0)).tolist() == [[[0] * 3, [85] * 3, [170] * 3, [255] * 3]]
    assert png.decode(file_of(b"\0\x10", 2, 1, 4, 3, b"\1\2\3\4\5\6")).tolist() == [[[4, 5, 6], [1, 2, 3]]]
    assert png.decode(file_of(b"\0\x80\x01", 1, 1, 8, 4)).tolist() == [[[128] * 3]]
    assert png.decode(file_of(b"\0\1\2\3\4", 1, 1, 8, 6)).tolist() == [[[1, 2, 3]]]
    assert png.decode(file_of(b"\0\1\xff\2\xff\3\xff", 1, 1, 16, 2)).tolist() == [[[1, 2, 3]]]


GOOD = file_of(b"\0\1\2\3", 1, 1, 8, 2)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not begin"),
        (b"GIF89a", "does not begin"),
        (GOOD[:-12], "ends too early"),
        (GOOD[:40] + b"\x00" + GOOD[41:], "damaged"),
        (file_of(b"\0\1\2", 1, 1, 8, 2), "ends too early"),
        (file_of(b"\7\1\2\3", 1, 1, 8, 2), "unknown filter"),
        (file_of(b"\0\1\2\3", 1, 1, 8, 2, interlaced=1), "interlaced"),
        (file_of(b"\0\1", 1, 1, 8, 3), "palette"),
        (file_of(b"\0\5", 1, 1, 8, 3, b"\1\2\3"), "palette"),
        (file_of(b"", 0, 1, 8, 2), "header"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(png.PictureError, match=why):
        png.decode(data)


def test_a_file_that_promises_too_much_makes_no_more_than_its_header_says() -> None:
    assert png.decode(file_of(b"\0\1\2\3" + bytes(10**6), 1, 1, 8, 2)).shape == (1, 1, 3)


# ---------------------------------------------------------------- in programs


def run(tmp_path: Path, body: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    path = tmp_path / "program.sac"
    path.write_text(f"{USES}int main() {{ {body} return 0; }}\n")
    result = run_file(path, stdin=stdin, cwd=tmp_path)
    return result.status, result.stdout, result.stderr


def test_a_program_writes_and_reads_png(tmp_path: Path) -> None:
    body = (
        'e = writePNG("a.png", { [i,j] -> newColor(i, j, i * j) | [i,j] < [20, 30] }); p = readPNG("a.png"); '
        'printf("%d %d %d\\n", red(p[3, 4]), green(p[3, 4]), blue(p[3, 4])); print(shape(p));'
    )
    status, out, _ = run(tmp_path, body)
    assert (status, out.splitlines()[0]) == (0, b"3 4 12")
    assert png.decode((tmp_path / "a.png").read_bytes()).shape == (20, 30, 3)


def test_parts_of_colours_outside_of_the_range_are_cut(tmp_path: Path) -> None:
    run(tmp_path, 'e = writePNG("a.png", [[[-5, 100, 999]]]);')
    assert png.decode((tmp_path / "a.png").read_bytes()).tolist() == [[[0, 100, 255]]]


def test_writing_where_there_is_no_folder_gives_an_error_code(tmp_path: Path) -> None:
    assert (
        run(tmp_path, 'e = writePNG("no/a.png", [[red()]]); printf("%s\\n", SysErr::strerror(e));')[1]
        == b"No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('p = readPNG("missing.png"); print(shape(p));', "E0660"),
        ('p = readPNG("program.sac"); print(shape(p));', "E0661"),
        ('e = writePNG("a.png", reshape([0, 1, 3], genarray([0], 1)));', "E0662"),
        ('p = readPPM("program.sac"); print(shape(p));', "E0661"),
        ("d = initDisplay([0, 5]); destroyDisplay(d);", "E0662"),
        ("d = initDisplay([2, 2]); drawArrayOffset(d, [[red()]], [-1, 0]); destroyDisplay(d);", "E0662"),
    ],
)
def test_mistakes_end_in_diagnostics(body: str, code: str, tmp_path: Path) -> None:
    status, _, err = run(tmp_path, body)
    assert status == 1
    assert code in err


@pytest.mark.parametrize(
    ("data", "picture"),
    [
        (b"P3\n2 1\n255\n1 2 3\n4 5 6\n", [[[1, 2, 3], [4, 5, 6]]]),
        (b"P3 # a comment\n# another\n1 # width\n1\n15\n15 0 5\n", [[[255, 0, 85]]]),
        (b"P6\n1 1\n255\n\x00\x0a\xff", [[[0, 10, 255]]]),
        (b"P6 1 1 65535\n\xff\xff\x00\x00\x80\x00", [[[255, 0, 128]]]),
    ],
)
def test_ppm_files_of_every_kind_are_read(data: bytes, picture: list[list[list[int]]], tmp_path: Path) -> None:
    status, _, _ = run(tmp_path, 'p = readPPM(); e = writePNG("a.png", p);', data)
    assert (status, png.decode((tmp_path / "a.png").read_bytes()).tolist()) == (0, picture)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"P5\n1 1\n255\n",
        b"P6\n1 1\n255\n\1\2",
        b"P3\n1 1\n255\n1 2",
        b"P3\n1 1\n255\n1 x 3",
        b"P6\n-1 1\n255\n",
        b"P6\n99999 99999\n255\n",
        b"P3\n1 1\n0\n1 2 3",
    ],
)
def test_damaged_ppm_files_are_refused(data: bytes, tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "p = readPPM(); print(shape(p));", data)
    assert (status, "E0661" in err) == (1, True)


def test_displays_write_files_and_cut_what_exceeds_them(tmp_path: Path) -> None:
    status, _, _ = run(
        tmp_path,
        "d = initDisplay([1, 2]); other = initDisplay([1, 1]); drawArray(d, [[red(), green(), blue()], [red(), red(), "
        "red()]]); drawArray(other, [[blue()]]); destroyDisplay(d); destroyDisplay(other);",
    )
    assert status == 0
    assert png.decode((tmp_path / "display-1.png").read_bytes()).tolist() == [[[255, 0, 0], [0, 255, 0]]]
    assert png.decode((tmp_path / "display-2.png").read_bytes()).tolist() == [[[0, 0, 255]]]


def test_displays_on_a_terminal_are_half_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SACPY_DISPLAY", "terminal")
    _, out, _ = run(tmp_path, "d = initDisplay([2, 1]); drawArray(d, [[red()], [blue()]]); destroyDisplay(d);")
    assert out.decode() == "\x1b[38;2;255;0;0;48;2;0;0;255m\u2580\x1b[0m\n"
    assert not list(tmp_path.glob("*.png"))


def test_displays_can_be_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SACPY_DISPLAY", "off")
    assert run(tmp_path, "d = initDisplay([2, 1]); drawArray(d, [[red()], [blue()]]); destroyDisplay(d);")[:2] == (
        0,
        b"",
    )
    assert not list(tmp_path.glob("*.png"))


def test_wide_pictures_fit_on_a_terminal() -> None:
    lines = b"".join(half_blocks(np.zeros((3, 250, 3), np.uint8))).decode().splitlines()
    assert [line.count("\u2580") for line in lines] == [84]


def test_a_selection_is_read_and_the_end_of_the_input_ends_the_program(tmp_path: Path) -> None:
    body = "d = initDisplay([4, 4]); s = getSelection(d); print(s); t = getSelection(d); print(t);"
    status, out, _ = run(tmp_path, body, b"1 2 3 4 5")
    assert (status, out.count(b"Dimension")) == (0, 1)


def test_without_access_to_files_there_are_no_pictures() -> None:
    assert run_text(USES + 'int main() { e = writePNG("/", [[red()]]); return toi(SysErr::fail(e)); }').status == 1
