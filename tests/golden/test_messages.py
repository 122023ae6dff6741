"""Every message's text, word for word."""

import pytest

from tests.golden.messages import FOLDERS, HERE, codes, message


@pytest.mark.parametrize("code", codes())
def test_text(code: str) -> None:
    assert message(code) == (HERE / f"{code}.txt").read_text(encoding="utf-8"), (
        "if the new text is right: python -m tests.golden.messages"
    )


def test_no_text_is_left_over() -> None:
    assert sorted(path.stem for path in HERE.glob("*.txt")) == codes()


def test_folders_give_their_code() -> None:
    assert [code for code in FOLDERS if f"[{code}]" not in message(code)] == []
