"""What an editor shows of a text as a whole, asked by a client: colours, folds, callers, words to click."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types as lsp

from sacpy.lsp.coloring import KINDS, MODIFIERS
from tests.lsp.conftest import Editor, identify, place

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = """\
use Array: all;
use StdIO: all;
use Shapes: all;

#define SCALE(x) ((x) * 2.0)

// What is left
// of the border.
struct Rod { double[.] heat; int age; };

/* The mean of both neighbours.
   >>> blur([1.0, 2.0, 3.0])
   [1.0, 8.0, 3.0]
   >>> blur([1.0, 1.0])
   [1.0, 1.0] */
double[n] blur(double[n] v)
{
  return { [i] -> SCALE(v[i - 1] + v[i + 1]) | [1] <= [i] < [n - 1];
           [i] -> v[i] | [i] < [n] };
}

#if 1
int twice(int x) { return square(x) + square(x); }
#else
int twice(int x) { return 0; }
#endif

int main()
{
  rod = Rod{[1.0, 2.0, 3.0], 0};
  rod.heat = blur(rod.heat);
  if (twice(3) > 5) {
    rod.age = twice(4);
  }
  printf("%d\\n", rod.age);
  return twice(rod.age) - 2048;
}
"""


@pytest.fixture(scope="module")
def uri(editor: Editor) -> str:
    return editor.open(TEXT, "shown.sac")


async def names(editor: Editor, uri: str, text: str) -> list[tuple[str, str, frozenset[str]]]:
    """The names that are coloured, with their kinds and modifiers."""
    answer = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(identify(uri)))
    assert answer is not None
    lines, line, column, out = text.split("\n"), 0, 0, []
    for i in range(0, len(answer.data), 5):
        down, across, length, kind, bits = answer.data[i : i + 5]
        line, column = line + down, across if down else column + across
        modifiers = frozenset(m for k, m in enumerate(MODIFIERS) if bits >> k & 1)
        out.append((lines[line][column : column + length], KINDS[kind], modifiers))
    return out


async def test_colours(editor: Editor, uri: str) -> None:
    found = await names(editor, uri, TEXT)
    assert [n for n, kind, _ in found if kind == "namespace"] == ["Array", "StdIO", "Shapes"]
    assert [n for n, kind, _ in found if kind == "macro"] == ["SCALE", "SCALE"]
    assert {n for n, kind, _ in found if kind == "type"} == {"Rod"}
    assert {n for n, kind, _ in found if kind == "property"} == {"heat", "age"}
    assert {(n, "defaultLibrary" in m) for n, kind, m in found if kind == "function"} == {
        ("blur", False), ("twice", False), ("square", False), ("main", False), ("printf", True),
    }  # fmt: skip
    assert {n for n, kind, _ in found if kind == "parameter"} == {"v", "x"}
    assert {n for n, kind, m in found if "readonly" in m} == {"i"}
    assert [m for n, kind, m in found if n == "rod"][:2] == [frozenset({"declaration"}), frozenset({"modification"})]


async def test_colours_of_wide_letters_and_of_nothing(editor: Editor) -> None:
    text = 'use StdIO: all;\nint main() { printf("\U0001f600"); x = 1; return x; }\n'
    found = await names(
        editor, editor.open(text), text.encode("utf-16-le").decode("utf-16-le").replace("\U0001f600", "??")
    )
    assert [n for n, kind, _ in found if kind == "variable"] == ["x", "x"]
    assert await names(editor, editor.open(""), "") == []


async def test_folds(editor: Editor, uri: str) -> None:
    answer = await editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(identify(uri)))
    lines = TEXT.split("\n")
    found = {lines[f.start_line]: (lines[f.end_line], f.kind) for f in answer or ()}
    assert found["use Array: all;"] == ("use Shapes: all;", "imports")
    assert found["// What is left"] == ("// of the border.", "comment")
    assert found["/* The mean of both neighbours."] == ("   [1.0, 1.0] */", "comment")
    assert found["double[n] blur(double[n] v)"] == ("           [i] -> v[i] | [i] < [n] };", None)
    assert found["#if 1"] == ("int twice(int x) { return square(x) + square(x); }", "region")
    assert found["  if (twice(3) > 5) {"] == ("    rod.age = twice(4);", None)
    assert found["int main()"] == ("  return twice(rod.age) - 2048;", None)


async def prepared(editor: Editor, uri: str, around: str) -> lsp.CallHierarchyItem:
    found = await editor.client.text_document_prepare_call_hierarchy_async(
        lsp.CallHierarchyPrepareParams(identify(uri), place(TEXT, around))
    )
    assert found is not None and len(found) == 1
    return found[0]


async def test_callers_and_callees(editor: Editor, uri: str) -> None:
    twice = await prepared(editor, uri, "twice(3)")
    assert twice.detail == "int twice(int x)"
    callers = await editor.client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(twice))
    assert [(c.from_.name, len(c.from_ranges)) for c in callers or ()] == [("main", 3)]
    callees = await editor.client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(twice))
    assert [(c.to.name, c.to.uri.rpartition("/")[2], len(c.from_ranges)) for c in callees or ()] == [
        ("square", "Shapes.sac", 2)
    ]
    square = (callees or ())[0].to
    above = await editor.client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(square))
    assert "twice" in {c.from_.name for c in above or ()}


async def test_a_variable_has_no_callers(editor: Editor, uri: str) -> None:
    found = await editor.client.text_document_prepare_call_hierarchy_async(
        lsp.CallHierarchyPrepareParams(identify(uri), place(TEXT, "rod = "))
    )
    assert not found


async def lenses(editor: Editor, uri: str) -> dict[str, lsp.Command]:
    found = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(identify(uri)))
    lines = TEXT.split("\n")
    return {f"{lines[one.range.start.line]} {one.command.title}": one.command for one in found or () if one.command}


async def clicked(editor: Editor, command: lsp.Command) -> tuple[object, str]:
    """What comes of a click: the answer and the message."""
    before = len(editor.client.messages)
    answer = await editor.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams(command.command, command.arguments)
    )
    async with asyncio.timeout(30):
        while len(editor.client.messages) == before:
            await asyncio.sleep(0.05)
    return answer, editor.client.messages[-1].message


async def test_words_to_click(editor: Editor, uri: str) -> None:
    found = await lenses(editor, uri)
    assert list(found) == [
        "double[n] blur(double[n] v) test 2 examples",
        "double[n] blur(double[n] v) explain",
        "int main() run",
    ]


async def test_run(editor: Editor, uri: str) -> None:
    status, message = await clicked(editor, (await lenses(editor, uri))["int main() run"])
    assert (status, message) == (0, "run shown.sac\n32")
    assert any("sacpy run" in m.message for m in editor.client.log_messages)


async def test_examples(editor: Editor, uri: str) -> None:
    status, message = await clicked(editor, (await lenses(editor, uri))["double[n] blur(double[n] v) test 2 examples"])
    assert status == 0 and "1 passed in " in message


async def test_explanations(editor: Editor, uri: str) -> None:
    status, message = await clicked(editor, (await lenses(editor, uri))["double[n] blur(double[n] v) explain"])
    assert status == 0 and message.startswith("explain shown.sac\n")


async def test_what_is_not_saved_is_not_run(editor: Editor) -> None:
    uri = editor.open("int main() { return 3; }\n", "unsaved.sac")
    editor.change(uri, "int main() { return 4; }\n")
    status, message = await clicked(editor, lsp.Command("run", "sacpy.server.run", arguments=[uri, ""]))
    assert status is None and "save it first" in message


async def test_a_new_run_ends_the_one_before(editor: Editor) -> None:
    uri = editor.open("int main() { while (true) { } return 0; }\n", "endless.sac")
    run = lsp.ExecuteCommandParams("sacpy.server.run", [uri, ""])
    first = asyncio.ensure_future(editor.client.workspace_execute_command_async(run))
    await asyncio.sleep(1.0)
    (editor.folder / "endless.sac").write_text("int main() { return 5; }\n")
    editor.change(uri, "int main() { return 5; }\n")
    assert await editor.client.workspace_execute_command_async(run) == 5
    assert await first != 0


async def test_diagnostics_lead_to_their_explanation(editor: Editor) -> None:
    uri = editor.open("int main() { return nix; }\n")
    async with asyncio.timeout(10):
        while not editor.client.diagnostics.get(uri):
            await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    (problem,) = editor.client.diagnostics[uri]
    assert problem.code_description is not None
    href, _, line = problem.code_description.href.partition("#L")
    path = href.removeprefix("file://")
    with open(path, encoding="utf-8") as file:
        assert file.read().split("\n")[int(line) - 1].startswith(f"## {problem.code}:")


async def test_a_change_in_two_places_is_one_action(editor: Editor) -> None:
    text = "use StdIO: all;\nint main() { print(sqrt(2)); return 0; }\n"
    uri = editor.open(text)
    params = lsp.CodeActionParams(
        identify(uri), lsp.Range(place(text, "sqrt"), place(text, "sqrt", 4)), lsp.CodeActionContext([])
    )
    (action,) = await editor.client.text_document_code_action_async(params) or ()
    assert isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.changes is not None
    assert [e.new_text for e in action.edit.changes[uri]] == ["use Math: all;\n", "2.0"]


async def test_a_mistake_hides_nothing_of_the_rest(editor: Editor) -> None:
    body = "  a = genarray([4, 5], 1.5);\n  b = unheard(a);\n  c = shape(a);\n  d = b + 1;\n  return c[0];\n"
    text = f"use Array: all;\nint main()\n{{\n{body}}}\n"
    uri = editor.open(text)
    params = lsp.InlayHintParams(identify(uri), lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0)))
    found = await editor.client.text_document_inlay_hint_async(params)
    assert {(h.position.line, h.label) for h in found or ()} == {(3, ": double[4,5]"), (5, ": int[2]")}
