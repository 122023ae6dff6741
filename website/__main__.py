"""Builds the site: `python -m website [--out FOLDER] [--no-playground]`. A warning is an error."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from website.check import problems
from website.navigation import ROOT
from website.playground.distribution import NotToBeHad
from website.staging import stage

TOOLS = ROOT / "build" / "site-tools"


def main() -> int:
    """Builds what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="FOLDER")
    parser.add_argument("--no-playground", action="store_true", help="the pages alone; needs no node")
    asked = parser.parse_args()
    out = asked.out.resolve()
    pages(out)
    if not asked.no_playground:
        from website.playground.build import build

        try:
            build(out / "playground", TOOLS)
        except NotToBeHad as problem:
            print(f"the playground is missing: {problem}", file=sys.stderr)
            return 1
    wrong = list(problems(out, playground=not asked.no_playground))
    print("\n".join(wrong) or f"{out}: {len(list(out.rglob('*.html')))} pages, all links lead somewhere")
    return 1 if wrong else 0


def pages(out: Path) -> None:
    """Builds the pages. Raises `CalledProcessError` where the generator warns of something."""
    source = TOOLS / "pages"
    stage(source)
    shutil.rmtree(out, ignore_errors=True)
    here = str(Path(__file__).parent)
    options = ["-q", "-W", "--keep-going", "-E", "-a", "-b", "html", "-c", here, "-d", str(TOOLS / "doctrees")]
    subprocess.run([sys.executable, "-m", "sphinx", *options, str(source), str(out)], cwd=ROOT, check=True)
    shutil.rmtree(out / ".doctrees", ignore_errors=True)
    for left in (".buildinfo", "objects.inv"):
        (out / left).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
