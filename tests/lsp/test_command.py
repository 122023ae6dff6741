"""`sacpy lsp` as it is called."""

import builtins
import subprocess
import sys

import pytest

from sacpy.cli import main


def test_without_pygls_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name.partition(".")[0] == "pygls":
            raise ImportError(name)
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["lsp"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error[E0790]: the language server needs the package pygls")
    assert "pip install 'sac-lang[lsp]'" in err


def test_other_commands_do_not_load_it() -> None:
    script = (
        "import sys, sacpy.cli; sacpy.cli.main(['fmt', '--check', 'programs/life.sac']); print([m for m in "
        "sys.modules if m.startswith(('pygls', 'lsprotocol', 'sacpy.lsp'))])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
