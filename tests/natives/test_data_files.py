"""NPZ, Raw, WAV, mapped files; all of them at the prompt, and as the arguments of `main`."""

from __future__ import annotations

import os
import struct
import wave
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy import cli
from sacpy.interp.errors import Fault
from sacpy.interp.natives.npy import mapped
from sacpy.interp.natives.npz import array_in, names_in
from sacpy.interp.natives.wav import sound
from sacpy.interp.world import World
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.chdir(tmp_path)
    return Engine(Workspace(), World.captured())


def done(engine: Engine, text: str) -> Any:
    """The value that an input has."""
    outcome = engine.enter(f"x = {text};")
    assert not outcome.failed, outcome.diagnostics
    return engine.variables["x"].values[0]


# ---------------------------------------------------------------- archives


def test_archives_of_numpy_and_ours(engine: Engine) -> None:
    np.savez_compressed("a.npz", x=np.arange(6).reshape(2, 3), y=np.float32(1.5))
    assert done(engine, 'NPZ::readNPZLong("a.npz", "x")').tolist() == [[0, 1, 2], [3, 4, 5]]
    assert done(engine, 'NPZ::readNPZFloat("a.npz", "y")') == 1.5
    engine.enter('NPZ::writeNPZ("a.npz", "x", [7.5]); NPZ::writeNPZ("a.npz", "new", genarray([0, 2], true));')
    found = np.load("a.npz")
    assert sorted(found) == ["new", "x", "y"] and found["x"].tolist() == [7.5] and found["new"].shape == (0, 2)


def test_what_is_no_archive_and_stays_as_it_is(engine: Engine) -> None:
    Path("a.npz").write_text("text")
    (wrong,) = engine.enter('NPZ::writeNPZ("a.npz", "x", 1);').diagnostics
    assert wrong.code == "E0665" and Path("a.npz").read_text() == "text"
    np.savez("b.npz", x=np.arange(3))
    data = bytearray(Path("b.npz").read_bytes())
    data[130] ^= 255  # an element: the checksum does not hold
    with pytest.raises(Fault, match=r"is no \.npz file"):
        array_in(bytes(data), "x", "b.npz")
    with zipfile.ZipFile("c.npz", "w") as archive:
        archive.writestr("note.txt", "no array")
    assert names_in(Path("c.npz").read_bytes(), "c.npz") == []
    with pytest.raises(Fault, match=r"no array x in c\.npz"):
        array_in(Path("c.npz").read_bytes(), "x", "c.npz")


# ---------------------------------------------------------------- sound


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_whole_numbers_of_a_sound(bits: int, tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(bits // 8)
        file.setframerate(48000)
        low, zero, half = (0, 128, 192) if bits == 8 else (-(2 ** (bits - 1)), 0, 2 ** (bits - 2))
        file.writeframes(b"".join((n % 2**bits).to_bytes(bits // 8, "little") for n in (low, zero, half, low)))
    rate, samples = sound((tmp_path / "a.wav").read_bytes(), "a.wav")
    assert (rate, samples.tolist()) == (48000, [[-1.0, 0.0], [0.5, -1.0]])


def test_sounds_of_reals_and_none() -> None:
    chunk = struct.pack("<HHIIHH", 3, 1, 100, 400, 4, 32)
    head = b"RIFF\0\0\0\0WAVEjunk\x01\0\0\0a\0fmt " + struct.pack("<I", len(chunk)) + chunk
    rate, samples = sound(head + b"data" + struct.pack("<If", 4, -0.25), "f")
    assert (rate, samples.tolist()) == (100, [[-0.25]])
    for data, said in (
        (b"", "does not begin"),
        (head, "no sound"),
        (head.replace(b"\x03\0\x01\0", b"\x07\0\x01\0", 1) + b"data\x04\0\0\0abcd", "format 7 and 32 bits"),
        (head.replace(b"\x03\0\x01\0", b"\x03\0\0\0", 1) + b"data\x04\0\0\0abcd", "0 channels"),
    ):
        with pytest.raises(Fault, match=said):
            sound(data, "f")


def test_a_written_sound_is_read_by_others(engine: Engine) -> None:
    engine.enter('WAV::writeWAV("a.wav", 8000, [0.5, -1.0, 3.0, sqrt(-1.0)]);')
    with wave.open("a.wav") as file:
        assert file.getparams()[:4] == (1, 2, 8000, 4)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [16384, -32768, 32767, 0]
    assert [d.code for d in engine.enter('WAV::writeWAV("a.wav", 0, [0.5]);').diagnostics] == ["E0669"]


# ---------------------------------------------------------------- mapped files


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_updates_of_a_mapped_array_never_reach_the_file(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.arange(5000.0))
    Path("p.sac").write_text(
        "use NPY: all; use Array: all; use StdIO: all;\n"
        "double[n] changed(double[n] v) { for (i = 0; i < n; i++) { v[i] = v[i] * 2.0; } return v; }\n"
        'int main() { v = changed(mapNPYDouble("a.npy")); printf("%g\\n", sum(v)); return 0; }'
    )
    assert cli.main(["run", "--target", target, "p.sac"]) == 0
    assert capfd.readouterr().out == "2.4995e+07\n"
    assert np.array_equal(np.load("a.npy"), np.arange(5000.0))


def test_mapped_values_stay_when_their_file_is_written(engine: Engine) -> None:
    np.save("a.npy", np.arange(3000.0))
    os.chmod("a.npy", 0o640)
    done(engine, 'NPY::mapNPYDouble("a.npy")')
    engine.enter("v = x;")
    assert not engine.enter('NPY::writeNPY("a.npy", [1.0]);').failed
    assert np.load("a.npy").tolist() == [1.0] and os.stat("a.npy").st_mode & 0o777 == 0o640
    np.arange(3000).tofile("r.bin")
    done(engine, 'Raw::mapRawLong("r.bin", [3000])')
    assert not engine.enter('e, f = File::fopen("r.bin", "r+"); File::fputc(\'z\', f); File::fclose(f);').failed
    assert engine.variables["v"].values[0].sum() == np.arange(3000.0).sum()
    assert engine.variables["x"].values[0][0] == 0
    assert np.fromfile("r.bin", np.int64)[0] == ord("z") and os.path.getsize("r.bin") == 24000
    assert sorted(os.listdir()) == ["a.npy", "r.bin"]


def test_what_cannot_be_mapped_is_read(tmp_path: Path) -> None:
    world = World.captured()
    turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for array in (turned, np.arange(3).astype(">i4"), np.zeros((0, 3)), np.float64(7)):
        np.save(tmp_path / "a.npy", array)
        found = mapped(world, str(tmp_path / "a.npy").encode())
        assert np.array_equal(found, array) and found.shape == array.shape and found.flags.c_contiguous
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data[:-3])
    with pytest.raises(Fault, match="it ends after 5 of 8 bytes"):
        mapped(world, str(tmp_path / "a.npy").encode())
    (tmp_path / "a.npy").write_bytes(b"")
    with pytest.raises(Fault, match="does not begin"):
        mapped(world, str(tmp_path / "a.npy").encode())


def test_elements_at_an_odd_place(engine: Engine) -> None:
    Path("r.bin").write_bytes(b"x" + np.arange(3).tobytes())
    assert done(engine, 'Raw::mapRawLong("r.bin", 1l, [3])').tolist() == [0, 1, 2]
    assert [d.code for d in engine.enter('Raw::mapRawLong("r.bin", 2l, [3])').diagnostics] == ["E0669"]
    assert [d.code for d in engine.enter('Raw::readRawLong("r.bin", -1l, [3])').diagnostics] == ["E0669"]


# ---------------------------------------------------------------- the prompt


def test_every_kind_of_file_at_the_prompt(engine: Engine) -> None:
    np.savez("z.npz", a=np.arange(3), b=np.float64(2))
    np.arange(6, dtype=np.float32).tofile("r.bin")
    engine.enter('WAV::writeWAV("s.wav", 8000, [[0.5, 0.25]]); PNG::writePNG("p.png", genarray([2, 3, 3], 7));')
    np.save("m.npy", np.arange(4.0))

    def said(command: str) -> Any:
        outcome = obey(engine, command)[1]
        return [d.code for d in outcome.diagnostics] or list(outcome.remarks)

    assert said(":read z.npz") == ["a  long[3]", "b  double"]
    assert said(":read z.npz:b as c") == ["c  double"]
    assert said(":read r.bin as r : float[.,3]") == ["r  float[2,3]"]
    assert said(":read mapped r.bin as r : float[6]") == ["r  float[6]"]
    assert said(":read s.wav") == ["s  double[1,2]  8000 moments a second"]
    assert said(":read p.png") == ["p  color[2,3]"]
    assert said(":read mapped m.npy as big") == ["big  double[4]"]
    assert engine.enter("big[0] = 5.0;").failed is False and np.load("m.npy")[0] == 0
    for wrong in (":read z.npz as q", ":read r.bin", ":read r.bin : float[.,.]", ":read r.bin : char[6]", ":read"):
        assert said(wrong) == ["E0740"], wrong
    assert said(":read z.npz:c") == ["E0668"]
    assert said(":read r.bin : float[7]") == ["E0669"]


# ---------------------------------------------------------------- the command line

PROGRAM = """use StdIO: all; use Array: all; use String: all;
int main({})
{{
  printf("{}\\n", {});
  return 0;
}}
"""


@pytest.mark.parametrize(
    ("head", "body", "words", "said"),
    [
        ("double[n,m] a", ("%d %d %g", "n, m, sum(a)"), ["d.npy"], "2 3 15\n"),
        ("int[.] a", ("%d", "sum(a)"), ["[1,2] + 1"], "5\n"),
        ("float[+] a", ("%g", "sum(a)"), ["z.npz:x"], "3\n"),
        ("int[.] a", ("%d", "sum(a)"), ["z.npz:x"], "3\n"),
        ("int[.,.,3] a", ("%d", "sum(a)"), ["p.png"], "126\n"),
        ("double[.,2] a, int k", ("%g %d", "sum(a), k"), ["s.wav", "-3"], "0.75 -3\n"),
        ("double[.,3] a", ("%g", "sum(a)"), ["r.bin"], "15\n"),
        ("string s, string[n] more", ("%s %d", "s, n"), ["d.npy", "b", "c"], "d.npy 2\n"),
        ("double x, bool b, char c", ("%g %d %c", "x, toi(b), c"), ["3", "true", "'q'"], "3 1 q\n"),
        ("int[.] a", ("%d", "sum(a)"), ["d.npy"], "E0785"),
        ("int[.] a", ("%d", "sum(a)"), ["[1.5]"], "E0785"),
        ("byte a", ("%d", "toi(a)"), ["200"], "E0785"),
        ("int a", ("%d", "a"), [], "E0785"),
        ("int a", ("%d", "a"), ["1", "2"], "E0785"),
        ("int a", ("%d", "a"), ["true"], "E0785"),
        ("double[.,.] a", ("%g", "sum(a)"), ["r.bin"], "E0785"),
        ("double[.,4] a", ("%g", "sum(a)"), ["r.bin"], "E0785"),
        ("double[.] a", ("%g", "sum(a)"), ["no.npy"], "E0664"),
        ("int[.] a", ("%d", "sum(a)"), ["z.npz"], "E0668"),
        ("int[n] a, int[n] b", ("%d", "sum(a + b)"), ["[1]", "[1,2]"], "E0615"),
        ("int a", ("%d", "a"), ["nosuch(1)"], "E0307"),
    ],
)
def test_words_as_arguments(
    head: str, body: tuple[str, str], words: list[str], said: str, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    np.save("d.npy", np.arange(6.0).reshape(2, 3))
    np.arange(6.0).tofile("r.bin")
    np.savez("z.npz", x=np.arange(3), y=np.arange(2))
    engine.enter('WAV::writeWAV("s.wav", 8000, [[0.5, 0.25]]); PNG::writePNG("p.png", genarray([2, 3, 3], 7));')
    Path("p.sac").write_text(PROGRAM.format(head, *body))
    status = cli.main(["run", "--target", "interp", "p.sac", *words])
    out, err = capfd.readouterr()
    assert (status, out) == (0, said) if said.endswith("\n") else (status == 1 and f"error[{said}]" in err), err


def test_the_message_about_words(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    Path("p.sac").write_text("int main(int[.] v, int k) { return v[k]; }\n")
    assert cli.main(["run", "p.sac", "[1]"]) == 1
    assert capfd.readouterr().err == (
        "error[E0785]: main(int[.] v, int k) cannot be called with 1 word\n --> p.sac:1:5\n  |\n"
        "1 | int main(int[.] v, int k) { return v[k]; }\n  |     ^^^^\n  |\n"
        "  = note: a word is an expression, or a file: .npy, .npz:NAME, .csv, .png, .ppm, .wav, or .bin and .raw for "
        "elements alone\n  = help: call the program with V K\n"
    )
