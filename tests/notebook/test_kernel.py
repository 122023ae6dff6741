"""The kernel beyond what the public suite asks: driven through Jupyter's own client, one kernel for all tests."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from sacpy.interp import png

WAIT = 20
SLOW = 3  # machines that run tests have other things to do


@dataclass
class Answer:
    """The reply to a cell, and the messages that came with it."""

    reply: dict[str, Any]
    messages: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.messages]

    def data(self, mime: str = "text/plain") -> list[str]:
        return [
            content["data"][mime]
            for kind, content in self.messages
            if kind in ("execute_result", "display_data") and mime in content["data"]
        ]

    def text(self, name: str = "stdout") -> str:
        return "".join(
            content["text"] for kind, content in self.messages if kind == "stream" and content["name"] == name
        )

    def traceback(self) -> str:
        return "\n".join(self.reply["traceback"])


class Notebook:
    """A page in front of a kernel."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def run(self, code: str, **options: Any) -> Answer:
        return self.answer(self.client.execute(code, **options))

    def answer(self, request: str, reply: bool = True) -> Answer:
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind not in ("status", "execute_input"):
                messages.append((kind, content))
        return Answer(self._reply(request) if reply else {}, messages)

    def _reply(self, request: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]

    def ask(self, request: str) -> dict[str, Any]:
        return self._reply(request)


@pytest.fixture(scope="module")
def page(jupyter: Path) -> Iterator[Notebook]:
    manager, client = start_new_kernel(kernel_name="sac")
    yield Notebook(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_kernel_promises_no_more_than_it_has(page: Notebook) -> None:
    found = page.ask(page.client.kernel_info())
    assert found["supported_features"] == []
    assert found["language_info"]["pygments_lexer"] == "sac"


def test_a_cell_keeps_its_names_for_the_next_one(page: Notebook) -> None:
    page.run("int twice(int n) { return 2 * n; }\nkept = 21;")
    assert page.run("twice(kept)").data() == ["int 42"]


def test_lines_without_semicolons_each_show_their_value(page: Notebook) -> None:
    found = page.run("a = [1, 2];\na\nb = a + 1;\nb\n")
    assert found.data() == ["int[2] [1, 2]", "int[2] [2, 3]"]


def test_an_expression_over_several_lines_is_one(page: Notebook) -> None:
    assert page.run("1\n  + 2\n  + 3").data() == ["int 6"]


def test_output_stands_where_it_was_printed(page: Notebook) -> None:
    found = page.run('printf("first\\n");\n1 + 1\nprintf("second\\n");\n2 + 2\n')
    assert found.kinds() == ["stream", "execute_result", "stream", "execute_result"]


def test_arrays_come_as_tables_too(page: Notebook) -> None:
    (html,) = page.run("reshape([2, 3], iota(6))").data("text/html")
    assert "int[2,3]" in html and html.count("<td>") == 6


def test_colours_are_a_picture(page: Notebook) -> None:
    (data,) = page.run("{ [i, j] -> Color8::newColor(i, j, 7) | [i, j] < [300, 256] }").data("image/png")
    pixels = png.decode(base64.b64decode(data))
    assert pixels.shape == (300, 256, 3)
    assert pixels[200, 100].tolist() == [200, 100, 7]


def test_a_mistake_is_a_message_with_carets_in_the_cell_s_own_lines(page: Notebook) -> None:
    found = page.run("before = 5;\n:vars\n\nafter = before + nowhere;\n")
    assert found.reply["status"] == "error"
    assert found.reply["ename"] == "E0305"
    plain = _without_colours(found.traceback())
    assert f"In[{found.reply['execution_count']}]:4:18" in plain
    assert "4 | after = before + nowhere;\n  |                  ^^^^^^^ unknown name" in plain
    assert "\x1b[1;31m" in found.traceback()
    assert "Traceback" not in plain and ".py" not in plain
    assert page.run("before").data() == ["int 5"]


def test_a_run_time_error_shows_the_calls(page: Notebook) -> None:
    found = page.run("int at(int[.] v, int i) { return v[i]; }\nat([1, 2, 3], 3)")
    assert found.reply["ename"] == "E0601"
    assert "in at" in _without_colours(found.traceback())


def test_what_stands_behind_a_mistake_is_not_done(page: Notebook) -> None:
    page.run("step = 1;\n:nothing\nstep = 2;")
    assert page.run("step").data() == ["int 1"]


def test_warnings_are_said_and_stop_nothing(page: Notebook) -> None:
    found = page.run("int later(int n) { return not_yet(n); }\n7")
    assert found.reply["status"] == "ok"
    assert "W0732" in found.text("stderr")
    assert found.data() == ["int 7"]


def test_an_unknown_command_suggests(page: Notebook) -> None:
    assert "did you mean :vars" in _without_colours(page.run(":varz").traceback())


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = 0; i < 2000000; i++) { for (j = 0; j < 10000; j++) { kept = kept * 1103515245 + (i ^ kept); } }",
        "while (true) { kept = sum(iota(1000)) + kept; }",
        'while (true) { printf("x"); }',
    ],
)
def test_an_interrupt_stops_the_run_and_keeps_the_names(page: Notebook, loop: str) -> None:
    page.run("kept = 12345;")
    request = page.client.execute(loop)
    while page.client.get_iopub_msg(timeout=WAIT)["msg_type"] != "execute_input":
        pass
    time.sleep(0.2)  # it is in the middle of the loop
    start = time.monotonic()
    page.manager.interrupt_kernel()
    reply = page.ask(request)
    assert time.monotonic() - start < 0.3 * SLOW
    assert reply["status"] == "error" and reply["ename"] == "E0702"
    page.answer(request, reply=False)
    assert page.run("kept").data() == ["int 12345"]


def test_a_program_reads_from_the_page(page: Notebook) -> None:
    request = page.client.execute("found, number = scanint();\nnumber + 1", allow_stdin=True)
    page.client.get_stdin_msg(timeout=WAIT)
    page.client.input("41")
    assert page.answer(request).data() == ["int 42"]


def test_clearing_the_terminal_clears_the_output(page: Notebook) -> None:
    found = page.run('printf("old\\n"); printf("\\033[H\\033[2Jnew\\n");')
    assert found.kinds() == ["stream", "clear_output", "stream"]
    assert found.text() == "old\nnew\n"


def test_a_program_s_display_is_on_the_page(page: Notebook) -> None:
    page.run("use SDLdisplay: all;")
    found = page.run(
        "d = initDisplay([2, 3]);\nfor (n = 0; n < 3; n++) { drawArray(d, { [i, j] -> Color8::newColor(n, i, j) | [i, "
        "j] < [2, 3] }); }"
    )
    assert found.reply["status"] == "ok", found
    assert found.kinds() == ["display_data", "update_display_data", "update_display_data"]
    assert len({content["transient"]["display_id"] for _, content in found.messages}) == 1
    assert png.decode(base64.b64decode(found.messages[-1][1]["data"]["image/png"]))[1, 2].tolist() == [2, 1, 2]


def test_a_program_that_ends_itself_does_not_end_the_kernel(page: Notebook) -> None:
    found = page.run('RuntimeError::error(3, "over");')
    assert "status 3" in found.text("stderr")
    assert page.run("1").data() == ["int 1"]


def test_names_at_the_cursor_are_explained(page: Notebook) -> None:
    page.run("rod = [1.0, 2.5];")
    code = "x = rod + reshape([2], rod);"
    found = page.ask(page.client.inspect(code, code.index("rod") + 1))
    assert "double[2] [1.0, 2.5]" in found["data"]["text/plain"]
    inside = page.ask(page.client.inspect(code, code.index("[2]") + 1))
    assert "The same elements" in inside["data"]["text/plain"]
    assert page.ask(page.client.inspect("nowhere_to_be_found", 4))["found"] is False


@pytest.mark.parametrize("code", ["?reshape", "reshape?", "?Array::reshape", "? reshape "])
def test_documentation_is_for_the_pager(page: Notebook, code: str) -> None:
    (payload,) = page.run(code).reply["payload"]
    assert payload["source"] == "page" and "reshape" in payload["data"]["text/plain"]
    assert page.ask(page.client.is_complete(code))["status"] == "complete"


def test_nothing_of_that_name_is_an_error(page: Notebook) -> None:
    assert page.run("?no_such_name").reply["ename"] == "E0734"
    assert "error" in page.run("?no_such_name").kinds()


def test_fields_and_functions_are_completed_with_their_types(page: Notebook) -> None:
    page.run("struct Planet { double mass; double[3] place; };\nearth = Planet{1.0, [0.0, 0.0, 0.0]};")
    found = page.ask(page.client.complete("y = 1;\nearth.", 13))
    assert found["matches"] == ["mass", "place"]
    assert found["cursor_start"] == 13
    types = found["metadata"]["_jupyter_types_experimental"]
    assert [t["signature"] for t in types] == ["double", "double[3]"]


def test_an_expression_beside_the_cell_is_evaluated(page: Notebook) -> None:
    reply = page.run("side = 3;", user_expressions={"good": "side * 2", "bad": "no_such_name"}).reply[
        "user_expressions"
    ]
    assert reply["good"]["data"]["text/plain"] == "int 6"
    assert reply["bad"]["status"] == "error"


def test_a_silent_cell_shows_nothing(page: Notebook) -> None:
    before = page.run("0").reply["execution_count"]
    assert page.run("quiet = 1;\nquiet", silent=True).messages == []
    assert page.run("quiet").reply["execution_count"] == before + 1


def test_quit_ends_the_kernel(page: Notebook) -> None:
    assert page.run(":quit").reply["payload"] == [{"source": "ask_exit", "keepkernel": False}]


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
