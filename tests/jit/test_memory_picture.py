"""Where arrays lie, drawn: a column for each memory, from who makes it to who uses it last."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from sacpy import cli
from sacpy.embedding.memory_picture import MemoryPicture, drawn
from sacpy.interp.png import decode
from sacpy.jit.options import Options
from sacpy.lang.diagnostics import SacError
from tests.jit.test_circuits import SC, TABLE
from tests.tools import loaded

KEPT = """
double[.], double f(double[n] a) { r = a; for (i = 1; i < n; i++) { r[i] = r[i - 1] + a[i]; }
  w = r ++ a; r[0] = 1.0; s = 0.0; for (i = 0; i < n; i++) { s = 0.5 * s + r[i]; } return (w, s); }
"""
TWO = SC + TABLE["sc(..) ++ sc(..)"][0]


def picture(text: str, which: str = "f") -> MemoryPicture:
    return drawn(loaded(text), which, Options())


def test_what_is_made_in_another_array_stands_in_its_column() -> None:
    expected = """\
        function f(int a_n, double[a_n] a, int b_n, double[b_n] b)
        \u2502 \u2502 \u252c     r.1 = for                           in w at [a_n]
        \u2502 \u2534 \u25cf         u = update                          in the memory of r
        \u2502   \u25cf     r.3 = for                           in w at [0]
        \u2534   \u25cf         u.1 = update                        in the memory of r.2
            \u25cf     w = with                            new, there before r.1 is
        """
    assert str(picture(TWO)).split("\n", 1)[1].rstrip("\n") == dedent(expected).rstrip("\n")


def test_arrays_of_a_body_are_gone_behind_it() -> None:
    text = """use Array: all;
    double f(double[n] a, int k) { s = 0.0; for (i = 0; i < k; i++) { b = a + s; b[0] = 2.0; c = 0.0;
      for (j = 0; j < n; j++) { c = 0.5 * c + b[j]; } s = s + c; } d = a; d[k] = s; e = 0.0;
      for (j = 0; j < n; j++) { e = 0.5 * e + d[j]; } return e; }"""
    signs = [line.partition("=")[0][:3] for line in str(picture(text)).splitlines()[2:5]]
    assert signs == ["\u2502 \u252c", "\u2502 \u25cf", "\u25cf  "]  # of a and of what the body makes


def test_boxes_arrows_and_reasons() -> None:
    svg = picture("use Array: all;" + KEPT).svg
    assert "r.1 is not made in w: it is needed afterwards" in svg
    assert "<polygon" in svg  # the head of the arrow from r.1 to w
    assert "the memory of a, which is there before" in svg
    heights = [float(h) for h in re.findall(r"<rect x='[\d.]+' y='[\d.]+' width='26.0' height='([\d.]+)'", svg)]
    assert len(heights) == 3 and min(heights) > 0


def test_files_and_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "two.sac"
    source.write_text("use Array: all;" + KEPT + "int main() { return 0; }")
    assert cli.main(["picture", "--arrays", str(source)]) == 0
    assert "it is needed afterwards" in capsys.readouterr().out
    assert cli.main(["picture", "--arrays", "-o", str(tmp_path / "two.png"), str(source)]) == 0
    assert decode((tmp_path / "two.png").read_bytes()).std() > 0
    assert cli.main(["picture", "--arrays", "--function", "g", str(source)]) == 1
    assert "E0781" in capsys.readouterr().err


def test_what_has_no_arrays() -> None:
    assert "function f(int a)" in str(picture("int f(int a) { return a; }"))
    with pytest.raises(SacError, match="no function g"):
        picture("int f(int a) { return a; }", "g")
