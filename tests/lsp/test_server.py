"""The language server, asked by a client over its standard input and output."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types as lsp

from sacpy.lang.formatter import format_text
from tests.lsp.conftest import PROGRAM, Editor, identify, place, texts

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def uri(editor: Editor) -> str:
    return editor.open(PROGRAM, "rod.sac")


async def hover(editor: Editor, uri: str, text: str, around: str, offset: int = 0) -> str:
    answer = await editor.client.text_document_hover_async(lsp.HoverParams(identify(uri), place(text, around, offset)))
    assert answer is None or isinstance(answer.contents, lsp.MarkupContent)
    return "" if answer is None else answer.contents.value


async def published(editor: Editor, uri: str, codes: set[str]) -> list[lsp.Diagnostic]:
    """The diagnostics, once they have these codes."""
    async with asyncio.timeout(10):
        while {d.code for d in editor.client.diagnostics.get(uri, [])} != codes or uri not in editor.client.diagnostics:
            await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(editor.client.diagnostics[uri])


async def test_a_right_program_has_no_problems(editor: Editor, uri: str) -> None:
    assert await published(editor, uri, set()) == []


async def test_problems_come_and_go_with_changes(editor: Editor) -> None:
    text = "use Array: all;\nint main()\n{\n  a = [1, 2];\n  return a[5];\n}\n"
    uri = editor.open(text)
    [problem] = await published(editor, uri, {"E0506"})
    assert texts(text, [problem.range]) == ["4: a[5]"] and problem.severity == lsp.DiagnosticSeverity.Error
    assert "help: " in problem.message and problem.related_information is not None
    editor.change(uri, text.replace("5", "1"))
    assert await published(editor, uri, set()) == []


async def test_a_text_that_does_not_parse_keeps_its_names(editor: Editor) -> None:
    text = PROGRAM.replace("return 0;", "return 0")
    uri = editor.open(text)
    await published(editor, uri, {"E0202"})
    assert "double[64,128]" in await hover(editor, uri, text, "m = genarray") or "double[n] blur" in await hover(
        editor, uri, text, "blur(rod"
    )


async def test_a_mistake_in_a_module_is_told_at_the_head(editor: Editor) -> None:
    (editor.folder / "Wrong.sac").write_text("module Wrong;\nexport all;\nint bad() { return x; }\n")
    uri = editor.open("use Wrong: all;\nint main() { return bad(); }\n")
    [problem] = await published(editor, uri, {"E0305"})
    assert problem.range.start.line == 0 and "Wrong.sac:3" in problem.message


HOVERS = {
    ("m = genarray", 0): "m: double[64,128]",
    ("m[iv]", 0): "m: double[64,128]",
    ("iv < [64", 0): "iv: int[2]",
    ("rod = Rod", 1): "rod: struct Rod\n  .heat: double[3]\n  .age: int",
    ("Rod{", 1): "struct Rod {",
    ("heat = blur", 1): "double[.] heat   in struct Rod",
    ("blur(rod", 1): "double[n] blur(double[n] v)",
    ("double[n] v", 10): "v: double[.]",
    ("square(3)", 0): "x times x.",
    ("genarray([64", 0): "from ArrayBasics",
    ("Array: all", 0): "module Array",
    ("SCALE(v", 2): "#define SCALE(x) ((x) * 2.0)",
    ("+ tod", 0): "T +(T a, T b)   for T: any number type",
}


@pytest.mark.parametrize(("around", "offset"), HOVERS, ids=str)
async def test_hover(editor: Editor, uri: str, around: str, offset: int) -> None:
    assert HOVERS[around, offset] in await hover(editor, uri, PROGRAM, around, offset)


async def test_hover_shows_documentation_and_examples(editor: Editor, uri: str) -> None:
    assert "The mean of both neighbours.\n\n```\n>>> blur([1.0, 2.0, 3.0])" in await hover(
        editor, uri, PROGRAM, "blur(rod"
    )


async def test_hover_tells_what_words_of_the_language_are_for(editor: Editor) -> None:
    text = "int main()\n{\n  x = with { ([0] <= iv < [3]) : iv[0]; } : genarray([3], 0);\n  return x[1];\n}\n"
    uri = editor.open(text)
    assert "with-loop" in await hover(editor, uri, text, "with")
    assert "genarray" in await hover(editor, uri, text, "genarray")
    assert "return" in await hover(editor, uri, text, "return")
    assert await hover(editor, uri, text, "3]") == ""


async def test_nothing_is_said_where_nothing_stands(editor: Editor, uri: str) -> None:
    assert await hover(editor, uri, PROGRAM, "{\n  m") == ""


async def definition(editor: Editor, uri: str, around: str, offset: int = 0) -> list[str]:
    found = await editor.client.text_document_definition_async(
        lsp.DefinitionParams(identify(uri), place(PROGRAM, around, offset))
    )
    assert isinstance(found, list) and all(isinstance(one, lsp.Location) for one in found)
    return [
        f"{one.uri.rpartition('/')[2]}:{one.range.start.line + 1}" for one in found if isinstance(one, lsp.Location)
    ]


async def test_definitions(editor: Editor, uri: str) -> None:
    assert await definition(editor, uri, "total +") == ["rod.sac:21"]
    assert await definition(editor, uri, "v[i - 1]") == ["rod.sac:12"]
    assert await definition(editor, uri, "blur(rod") == ["rod.sac:12"]
    assert await definition(editor, uri, "square(3)") == ["Shapes.sac:5"]
    assert await definition(editor, uri, "Shapes:") == ["Shapes.sac:1"]
    assert await definition(editor, uri, "Rod{") == ["rod.sac:7"]
    assert await definition(editor, uri, "heat[0]") == ["rod.sac:7"]
    assert await definition(editor, uri, "SCALE(v") == ["rod.sac:5"]
    assert {place.partition(":")[0] for place in await definition(editor, uri, "genarray([64")} == {"ArrayBasics.sac"}


async def references(editor: Editor, uri: str, around: str, offset: int = 0) -> list[str]:
    context = lsp.ReferenceContext(include_declaration=True)
    found = await editor.client.text_document_references_async(
        lsp.ReferenceParams(context, identify(uri), place(PROGRAM, around, offset))
    )
    return [f"{one.uri.rpartition('/')[2]}:{one.range.start.line + 1}" for one in found or ()]


async def test_references(editor: Editor, uri: str) -> None:
    assert await references(editor, uri, "m = gen") == ["rod.sac:20", "rod.sac:21"]
    assert await references(editor, uri, "n] v)") == ["rod.sac:12", "rod.sac:12", "rod.sac:14", "rod.sac:15"]
    assert await references(editor, uri, "i] -> SCALE") == ["rod.sac:14"] * 4
    assert set(await references(editor, uri, "square")) >= {"Shapes.sac:5", "rod.sac:24"}


async def completions(editor: Editor, text: str, around: str) -> list[lsp.CompletionItem]:
    uri = editor.open(text)
    position = place(text, around, len(around))
    found = await editor.client.text_document_completion_async(lsp.CompletionParams(identify(uri), position))
    assert isinstance(found, lsp.CompletionList)
    return list(found.items)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("  to", "total"),
        ("  x = bl", "blur"),
        ("  rod.", "heat"),
        ("  x = Array::", "transpose"),
        ("  r = Rod{.", "age"),
        ("  wh", "while"),
        ("  x = SC", "SCALE"),
    ],
)
async def test_completion(editor: Editor, typed: str, offered: str) -> None:
    text = PROGRAM.replace("  return 0;", f"{typed}\n  return 0;")
    assert offered in [item.label for item in await completions(editor, text, f"heat[0]);\n{typed}")]


async def test_completion_in_use_lines_and_pragmas(editor: Editor) -> None:
    assert {"Math", "Shapes"} <= {i.label for i in await completions(editor, "use \n" + PROGRAM, "use ")}
    assert {"square"} == {i.label for i in await completions(editor, "use Shapes: { \n" + PROGRAM, "{ ")}
    assert {"GridBlock", "SplitLast"} <= {
        i.label
        for i in await completions(editor, PROGRAM.replace("128]) :", "128]) #pragma gpukernel \n:"), "gpukernel ")
    }


async def test_nothing_is_offered_within_comments_strings_and_numbers(editor: Editor) -> None:
    for typed in ("// to", '"to', "3.", "/* to"):
        assert (
            await completions(
                editor, PROGRAM.replace("  return 0;", f"  {typed}\n  return 0;"), f"heat[0]);\n  {typed}"
            )
            == []
        )


async def test_a_completion_is_explained_when_it_is_looked_at(editor: Editor) -> None:
    found = await completions(editor, PROGRAM, "edge = s")
    item = next(i for i in found if i.label == "square")
    resolved = await editor.client.completion_item_resolve_async(item)
    assert resolved.detail == "int square(int x)" and isinstance(resolved.documentation, lsp.MarkupContent)


async def test_signature_help_follows_the_arguments(editor: Editor) -> None:
    text = PROGRAM.replace("square(3);", "reshape([2, 2], [1, ")
    uri = editor.open(text)
    params = lsp.SignatureHelpParams(identify(uri), place(text, "reshape([2, 2], [1, ", 20))
    found = await editor.client.text_document_signature_help_async(params)
    assert (
        found is not None
        and found.active_parameter == 1
        and found.signatures[found.active_signature or 0].label.split("(")[0].endswith("reshape")
    )
    assert all(len(s.parameters or ()) == 2 for s in found.signatures)


async def test_document_symbols(editor: Editor, uri: str) -> None:
    found = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(identify(uri)))
    symbols = [s for s in found or () if isinstance(s, lsp.DocumentSymbol)]
    assert [(s.name, s.kind.name) for s in symbols] == [("Rod", "Struct"), ("blur", "Function"), ("main", "Function")]
    assert [c.name for c in symbols[0].children or ()] == ["heat", "age"]
    assert texts(PROGRAM, [s.selection_range for s in symbols]) == ["6: Rod", "11: blur", "17: main"]


async def test_workspace_symbols(editor: Editor, uri: str) -> None:
    found = await editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("squ"))
    assert [s.name for s in found or ()] == ["square"]


async def formatted(editor: Editor, text: str) -> str:
    uri = editor.open(text)
    edits = await editor.client.text_document_formatting_async(
        lsp.DocumentFormattingParams(identify(uri), lsp.FormattingOptions(2, True))
    )
    if not edits:
        return text
    [edit] = edits
    assert (edit.range.start, edit.range.end) == (lsp.Position(0, 0), lsp.Position(text.count("\n"), 0))
    return edit.new_text


async def test_formatting_is_that_of_the_command(editor: Editor) -> None:
    ugly = PROGRAM.replace(" = ", "=").replace("  ", " ")
    assert await formatted(editor, ugly) == format_text(ugly)
    broken = "int main( {\n"
    assert await formatted(editor, broken) == broken


async def rename(editor: Editor, text: str, around: str, new: str, offset: int = 0) -> str:
    """The text after renaming."""
    uri = editor.open(text)
    found = await editor.client.text_document_rename_async(
        lsp.RenameParams(identify(uri), place(text, around, offset), new)
    )
    if found is None or not found.changes:
        return "refused"
    lines = text.split("\n")
    for edit in sorted(found.changes[uri], key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        line = lines[edit.range.start.line]
        lines[edit.range.start.line] = (
            line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
        )
    return "\n".join(lines)


async def test_rename_changes_what_is_meant_and_nothing_else(editor: Editor) -> None:
    assert await rename(editor, PROGRAM, "m = gen", "grid") == PROGRAM.replace("m = gen", "grid = gen").replace(
        ": m[iv]", ": grid[iv]"
    )
    first = "[k] -> SCALE(v[k - 1] + v[k + 1]) | [1] <= [k] <"
    assert await rename(editor, PROGRAM, "i] -> SCALE", "k") == PROGRAM.replace(
        "[i] -> SCALE(v[i - 1] + v[i + 1]) | [1] <= [i] <", first
    )
    assert await rename(editor, PROGRAM, "blur(double", "mean") == PROGRAM.replace(
        "blur(double", "mean(double"
    ).replace("blur(rod", "mean(rod")
    assert await rename(editor, PROGRAM, "heat;", "warmth") == PROGRAM.replace("heat;", "warmth;").replace(
        ".heat", ".warmth"
    )


@pytest.mark.parametrize(
    ("around", "new"),
    [
        ("m = gen", "total"),
        ("m = gen", "while"),
        ("m = gen", "3x"),
        ("genarray([64", "f"),
        ("square(3", "f"),
        ("blur(double", "print"),
        ("SCALE(x", "f"),
    ],
)
async def test_rename_refuses_what_would_change_the_meaning(editor: Editor, around: str, new: str) -> None:
    assert await rename(editor, PROGRAM, around, new) == "refused"


async def hints(editor: Editor, text: str) -> dict[str, list[str]]:
    uri = editor.open(text)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(text.count("\n"), 0))
    found = await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(identify(uri), whole))
    out: dict[str, list[str]] = {}
    for hint in found or ():
        out.setdefault(text.split("\n")[hint.position.line][: hint.position.character].strip(), []).append(
            str(hint.label)
        )
    return out


async def test_hints_show_shapes_and_mappings(editor: Editor) -> None:
    found = await hints(editor, PROGRAM)
    assert found["m"] == [": double[64,128]"] and found["total"] == [": double"] and found["rod"] == [": struct Rod"]
    [mapping] = found["total = with { ([0,0] <= iv < [64,128]) : m[iv];"]
    assert mapping.startswith("8192 indices: GridBlock(")
    assert (
        "rank 1, 2 partitions, extents at run time"
        in found["return { [i] -> SCALE(v[i - 1] + v[i + 1]) | [1] <= [i] < [n - 1]"]
    )


async def test_hints_know_dots_steps_and_pragmas(editor: Editor) -> None:
    text = """use Array: all;
int main()
{
  a = with { (. < iv < .) : 1; } : genarray([10, 20], 0);
  b = with { ([0] <= iv < [10] step [3] width [2]) : 1; } : modarray(iota(10));
  c = with { ([0] <= iv < [0]) : 1; } : fold(+, 0);
  d = with { (. <= iv <= .) #pragma gpukernel GridBlock(1, Gen)
             : 1; } : genarray([10], 0);
  return a[1,1] + b[0] + c + d[0];
}
"""
    labels = [label for line in (await hints(editor, text)).values() for label in line if not label.startswith(":")]
    assert [label.partition(":")[0] for label in labels] == ["144 indices", "7 indices", "0 indices"]


async def test_quick_fixes(editor: Editor) -> None:
    text = "use Array: all;\nint main()\n{\n  return smu([1, 2]);\n}\n"
    uri = editor.open(text)
    params = lsp.CodeActionParams(
        identify(uri), lsp.Range(place(text, "smu"), place(text, "smu")), lsp.CodeActionContext([])
    )
    found = await editor.client.text_document_code_action_async(params)
    edits = [
        a.edit.changes[uri][0].new_text
        for a in found or ()
        if isinstance(a, lsp.CodeAction) and a.edit and a.edit.changes
    ]
    assert edits == ["sum"]


async def test_columns_are_counted_as_the_editor_does(editor: Editor) -> None:
    text = 'use StdIO: all;\nint main()\n{\n  a = 1; /* \U0001f600 */ bcd = a + 1; printf("%d", bcd);\n  return 0;\n}\n'
    uri = editor.open(text)
    at = place(text, "bcd = ")
    answer = await editor.client.text_document_hover_async(
        lsp.HoverParams(identify(uri), lsp.Position(at.line, at.character + 1))
    )
    assert answer is not None and answer.range is not None and answer.range.start.character == at.character + 1
