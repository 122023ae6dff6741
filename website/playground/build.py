"""The playground's folder: a page, its scripts, Pyodide, NumPy and sacpy, all served from one place.

In: this folder, npm's packages, a wheel of sacpy without llvmlite. Out: a folder of static files.

What a visitor waits for is made beforehand: Python modules are compiled, in the Python that will run them, and packed
into two archives.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from website.playground import distribution

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
UNUSED = re.compile(r"\.(?:pyi|h|a|lib|pxd|c|md|rst)$|/tests/|/f2py/|^numpy/distutils/|\.dist-info/|^sac_lang")
"""Of the packages, what no program in a browser reads."""
# whose text the digest of the parsed library is made of (sacpy/lang/image.py)
SOURCES = ("sacpy/lang", "sacpy/nodes.py", "sacpy/base/plain.py")


def build(out: Path, tools: Path) -> None:
    """Fills the folder `out`. `tools`: where downloads and what is installed are kept between builds. Raises
    `distribution.NotToBeHad`, and `CalledProcessError` where a step fails."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    modules = installed(tools)
    pyodide = distribution.pyodide(modules)
    _scripts(out, tools)
    _python(out, tools, pyodide)
    (out / "licences.txt").write_text(licences(modules, distribution.numpy_wheel(pyodide, tools / "wheels")), "utf-8")
    (out / "pyodide").mkdir()
    for name in distribution.CORE:
        if (pyodide / name).is_file():
            shutil.copy(pyodide / name, out / "pyodide" / name)
    (out / "pyodide" / "pyodide-lock.json").write_text(distribution.trimmed(pyodide))
    for name in ("index.html", "style.css", "theme.js"):
        shutil.copy(HERE / name, out / name)


def installed(tools: Path) -> Path:
    """The folder of npm's packages, as `package-lock.json` names them. Raises `NotToBeHad`."""
    tools.mkdir(parents=True, exist_ok=True)
    done, asked = tools / "installed.json", (HERE / "package-lock.json").read_text("utf-8")
    if not done.is_file() or done.read_text("utf-8") != asked:
        npm = shutil.which("npm")
        if npm is None or shutil.which("node") is None:
            raise distribution.NotToBeHad("the playground is put together by node and npm, which are not there")
        done.unlink(missing_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, tools / name)
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        if subprocess.run([npm, "ci", *options], cwd=tools, check=False).returncode:
            raise distribution.NotToBeHad("npm could not install what website/playground/package-lock.json names")
        done.write_text(asked, "utf-8")
    return tools / "node_modules"


# ---------------------------------------------------------------- scripts


def words() -> dict[str, list[str]]:
    """The words of the language for the editor, from the tables that the language itself uses."""
    from sacpy.lang.vocabulary import BASE_TYPES, DEFINES, STATEMENTS
    from sacpy.repl.highlighting import WITHLOOP_WORDS
    from sacpy.withloop.combinators import COMBINATORS
    from sacpy.withloop.pragmas import WORDS

    return {
        "types": sorted(BASE_TYPES | {"void"}),
        "constants": ["false", "true"],
        "keywords": sorted(DEFINES | STATEMENTS | {"with", "struct"}),
        "withloops": sorted(WITHLOOP_WORDS),
        "filters": ["step", "width"],
        "mappings": sorted({*WORDS, *COMBINATORS, "GridBlock", "Gen"}),
    }


def examples() -> list[dict[str, str]]:
    """What the page offers: cells that begin with a line `// title`, then the programs of one file."""
    found = []
    for file in sorted((HERE / "examples").glob("*.sac")):
        text = file.read_text("utf-8")
        title = text.partition("\n")[0].removeprefix("// ")
        found.append({"name": f"cell-{file.stem.partition('-')[2]}", "group": "Cells", "title": title, "text": text})
    for file in sorted((ROOT / "programs").glob("*.sac")):
        stdin = file.with_suffix(".stdin")
        found.append(
            {"name": file.stem, "group": "Programs", "title": file.stem.replace("_", " "),
             "text": file.read_text("utf-8"), **({"stdin": stdin.read_text("utf-8")} if stdin.is_file() else {})}
        )  # fmt: skip
    return found


def messages() -> dict[str, str]:
    """Where each message is explained on the site: its code, and the anchor on the page of messages."""
    from website.links import anchors

    return {anchor[:5].upper(): anchor for anchor in anchors("docs/errors.md") if re.match(r"[ewn]\d{4}-", anchor)}


def _scripts(out: Path, tools: Path) -> None:
    source = tools / "source"  # beside node_modules, where the bundler looks for packages
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    for file in HERE.glob("*.js"):
        shutil.copy(file, source)
    (source / "words.json").write_text(json.dumps(words()))
    (source / "messages.json").write_text(json.dumps(messages()))
    (source / "examples.json").write_text(json.dumps(examples()))
    bundler = [shutil.which("node") or "node", str(tools / "node_modules" / "esbuild" / "bin" / "esbuild")]
    subprocess.run(
        [*bundler, "page.js", "worker.js", "--bundle", "--minify", "--format=esm", "--target=es2022",
         "--external:./pyodide/*", "--legal-comments=linked", "--log-level=warning", f"--outdir={out}"],
        cwd=source, check=True,
    )  # fmt: skip


def licences(modules: Path, wheels: Path) -> str:
    """The licences of what the page's folder holds and others have made: npm's packages but those that only build it,
    and NumPy."""
    lock = json.loads((HERE / "package-lock.json").read_text("utf-8"))["packages"]
    texts = []
    for name, about in sorted((n.partition("node_modules/")[2], a) for n, a in lock.items() if n and not a.get("dev")):
        files = sorted(p for p in (modules / name).glob("*") if p.name.upper().startswith(("LICENSE", "LICENCE")))
        text = "\n".join(file.read_text("utf-8") for file in files) or f"under the licence {about['license']}\n"
        texts.append(f"{name} {about['version']}\n\n{text}")
    with zipfile.ZipFile(wheels) as numpy:
        found = [n for n in numpy.namelist() if re.search(r"dist-info/(?:licenses/)?LICENSE[^/]*$", n)]
        texts.append("NumPy\n\n" + "\n".join(numpy.read(name).decode() for name in found))
    return f"\n{'=' * 72}\n\n".join(texts)


# ---------------------------------------------------------------- Python


def wheel(folder: Path) -> Path:
    """A wheel of sacpy for all platforms, made into the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], env={**os.environ, "SAC_LANG_PURE": "1"}, check=True)
    return next(folder.glob("sac_lang-*-none-any.whl"))


def _python(out: Path, tools: Path, pyodide: Path) -> None:
    packages, library = tools / "packages", tools / "library"
    for folder in (packages, library):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for made in (distribution.numpy_wheel(pyodide, tools / "wheels"), wheel(tools / "wheel")):
        _unpack(made, packages, lambda name: UNUSED.search(name) is None)
    shutil.copy(HERE / "play.py", packages)
    (packages / ".sources").write_text("\n".join(SOURCES))
    _unpack(pyodide / "python_stdlib.zip", library, lambda _: True)
    node = shutil.which("node") or "node"
    subprocess.run([node, str(HERE / "precompile.mjs"), str(pyodide), str(packages), str(library)], check=True)
    (out / "packages.bin").write_bytes(archive(packages))
    _pack(library, out / "stdlib.zip")


def _unpack(archive: Path, folder: Path, wanted: object) -> None:
    with zipfile.ZipFile(archive) as opened:
        assert callable(wanted)
        opened.extractall(folder, [n for n in opened.namelist() if wanted(n)])


def archive(folder: Path) -> bytes:
    """The files of a folder as worker.js reads them: a line of JSON, names and sizes, then the bytes of all, compressed
    together."""
    listed = [(file.relative_to(folder).as_posix(), file.read_bytes()) for file in _files(folder)]
    head = json.dumps([(name, len(data)) for name, data in listed]).encode() + b"\n"
    return gzip.compress(head + b"".join(data for _, data in listed), 9, mtime=0)


def _pack(folder: Path, archive: Path) -> None:
    """The files of a folder, the same bytes for the same files."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for file in _files(folder):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            made.writestr(entry, file.read_bytes())


def _files(folder: Path) -> Iterable[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())
