"""The README says what is true: its examples, its links, its commands."""

import re

from sacpy.cli import COMMANDS
from tests.docs.readme import README, updated
from tests.tools import ROOT

TEXT = README.read_text(encoding="utf-8")


def test_examples() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.readme"


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", TEXT)
    assert len(links) > 8
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_command_is_named() -> None:
    assert [name for name in COMMANDS if f"sacpy {name}" not in TEXT and f"`{name}`" not in TEXT] == []
