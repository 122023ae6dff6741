"""Tokens: numbers of every type, characters and strings byte by byte, operators cut as the program defines them,
documentation and trivia."""

import math
import struct

import pytest

from sacpy.base.spelling import closest
from sacpy.lang.preprocessor import defined_operators, tokenize
from sacpy.lang.source import Source
from sacpy.lang.tokens import Token


def tokens(text: str, **options: object) -> list[Token]:
    found = tokenize(Source("<test>", text), **options)  # type: ignore[arg-type]
    assert found.diagnostics == []
    assert found.tokens[-1].kind == "end"
    return found.tokens[:-1]


def words(text: str, **options: object) -> str:
    return " ".join(token.text for token in tokens(text, **options))


F01 = struct.unpack("f", struct.pack("f", 0.1))[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", ("int", 0)), ("42", ("int", 42)), ("2147483647", ("int", 2**31 - 1)), ("2147483648", ("int", 2**31)),
        ("7i", ("int", 7)), ("7I", ("int", 7)),
        ("3b", ("byte", 3)), ("128b", ("byte", 128)), ("3s", ("short", 3)), ("3l", ("long", 3)), ("3L", ("long", 3)),
        ("3ll", ("longlong", 3)), ("9223372036854775808l", ("long", 2**63)),
        ("3u", ("uint", 3)), ("3ui", ("uint", 3)), ("255ub", ("ubyte", 255)), ("3US", ("ushort", 3)),
        ("18446744073709551615ul", ("ulong", 2**64 - 1)), ("3ull", ("ulonglong", 3)), ("3uLL", ("ulonglong", 3)),
        ("0x1F", ("int", 31)), ("0XffL", ("long", 255)), ("0x7fffffff", ("int", 2**31 - 1)), ("0xffui", ("uint", 255)),
        ("010", ("int", 8)), ("0777s", ("short", 511)), ("00", ("int", 0)),
        ("1.5", ("double", 1.5)), ("1.", ("double", 1.0)), (".5", ("double", 0.5)), ("1e-9", ("double", 1e-9)),
        ("1E+3", ("double", 1000.0)), ("1e3", ("double", 1000.0)), ("1.5e2d", ("double", 150.0)),
        ("0d", ("double", 0.0)), ("1d", ("double", 1.0)), ("0f", ("float", 0.0)), ("1F", ("float", 1.0)),
        ("0.1f", ("float", F01)), (".1f", ("float", F01)), ("08.5", ("double", 8.5)), ("010d", ("double", 10.0)),
        ("0x1p-53", ("double", 2.0**-53)), ("0x1.8p1", ("double", 3.0)), ("0x.8p0f", ("float", 0.5)),
        ("1e400", ("double", math.inf)), ("1e39f", ("float", math.inf)), ("0x1d", ("int", 29)), ("0x1b", ("int", 27)),
    ],
)  # fmt: skip
def test_number_has_base_type_and_value(text: str, value: tuple[str, float]) -> None:
    (token,) = tokens(text)
    assert (token.kind, token.text, token.value) == ("number", text, value)
    assert isinstance(token.value, tuple) and type(token.value[1]) is type(value[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1...]", "[ 1 ... ]"), ("[1, ...]", "[ 1 , ... ]"), ("1..", "1 . ."), ("a.5", "a .5"), ("1.+2", "1. + 2"),
        ("1-1", "1 - 1"), ("1e3-1", "1e3 - 1"), ("0x1e-3", "0x1e - 3"), ("a.b.c", "a . b . c"),
        ("m[.,1]", "m [ . , 1 ]"), (".<=iv<.", ". <= iv < ."), ("iv<.5", "iv < .5"),
        ("{.x=1,.y=2}", "{ . x = 1 , . y = 2 }"),
        ("x=-1", "x = - 1"), ("a*-b", "a * - b"), ("[:int]", "[ : int ]"), ("c?-1:-2", "c ? - 1 : - 2"),
        ("iv->-x", "iv -> - x"), ("a<-1", "a < - 1"), ("x=!y&&!z", "x = ! y && ! z"),
        ("a++b", "a ++ b"), ("i++;", "i ++ ;"), ("a+++b", "a ++ + b"), ("a<<=1", "a <<= 1"), ("a>>b>=c", "a >> b >= c"),
        ("a++^b", "a ++^ b"), ("fold(+,0)", "fold ( + , 0 )"), ("M::+(a,b)", "M :: + ( a , b )"),
        ("int[*]&x", "int [ * ] & x"), ("a**b", "a * * b"), ("a|=b|c||d", "a |= b | c || d"), ("a^~b", "a ^ ~ b"),
        ("!=!", "!= !"), ("_add_SxS_", "_add_SxS_"), ("a//b\n/c", "a / c"), ("a/ *b", "a / * b"), ("a/**/b", "a b"),
    ],
)  # fmt: skip
def test_operators_are_cut_longest_first(text: str, expected: str) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("head", "use", "expected"),
    [
        ("int +++^(int a, int b) { return a; }", "x=a+++^-b;", "x = a +++^ - b ;"),
        ("inline int[*] <+>(int[*] a, int[*] b) { return a; }", "a<+>b<+c", "a <+> b < + c"),
        ("use M: {<+>, +, f};", "a<+>b", "a <+> b"),
        ("import M: all except {@};", "a@b", "a @ b"),
        ("export {|>};", "a|>b|>c", "a |> b |> c"),
        ("int ⊕(int a, int b) { return a; }", "a⊕b⊕-c", "a ⊕ b ⊕ - c"),
        ("<T: num> T[*] ~~(T[*] a);", "~~~a", "~~ ~ a"),
        ("int -+(int a); int +-(int b);", "-+-b", "-+ - b"),
    ],
)
def test_own_operators_stay_whole(head: str, use: str, expected: str) -> None:
    assert words(head + "\n" + use).endswith(" " + expected)


def test_operators_of_other_modules_are_given() -> None:
    assert words("a<+>b") == "a < + > b"
    assert words("a<+>b", operators=["<+>"]) == "a <+> b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int +(int a, int b) { return a <+> (b); }", set()),  # a use within a body defines nothing
        ("objdef int x =-(3); int y() { }", set()),
        ("int[n] f(int[n] a) | (n==-(1)) , n =-(2) { }", set()),
        ("struct S { int a; }; int <~>(int a);", {"<~>"}),
        ("provide {+^+, f}; export all except {-^-};", {"+^+", "-^-"}),
        ('// int <!>(int a)\nint f(int a) { s = "<+>("; }', set()),
        ("}}}} int <->(int a) {", {"<->"}),
    ],
)
def test_defined_operators(text: str, expected: set[str]) -> None:
    assert defined_operators(Source("<test>", text)) == expected


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (r'"a\n\t\r\a\b\f\v\\\"\'\?"', b"a\n\t\r\a\b\f\v\\\"'?"),
        (r'"\0\7\12\1234"', b"\0\7\nS4"),
        (r'"\x1b\xFFz\x041"', b"\x1b\xffzA"),
        ('"é漢"', "é漢".encode()),
        ('"é\\n漢"', "é\n漢".encode()),
        ('""', b""),
        ('"a" "b"\n"c" /* */ "d"', b"abcd"),
        (r'"\x1" "b"', b"\x01b"),
        ('"a\\\nb"', b"ab"),
        ('"/* no comment */ // nor this"', b"/* no comment */ // nor this"),
        ('"\udcff"', b"\xff"),
    ],
)
def test_string_has_a_character_per_byte(text: str, codes: bytes) -> None:
    (token,) = tokens(text)
    assert token.kind == "string" and isinstance(token.value, str)
    assert token.value.encode("latin-1") == codes


def test_joined_strings_span_all_parts() -> None:
    (token,) = tokens('"a"  "b"')
    assert token.span.text == '"a"  "b"'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("'a'", 97),
        ("'\\n'", 10),
        ("'\\0'", 0),
        ("'\\''", 39),
        ("'\"'", 34),
        ("'\\\\'", 92),
        ("'\\xff'", 255),
        ("'\\377'", 255),
        ("' '", 32),
    ],
)
def test_char_is_its_code(text: str, code: int) -> None:
    (token,) = tokens(text)
    assert (token.kind, token.value) == ("char", code)


def test_unknown_escape_is_its_character_with_a_warning() -> None:
    found = tokenize(Source("<test>", r'"50\%"'))
    assert found.tokens[0].value == "50%"
    assert [(d.code, d.severity) for d in found.diagnostics] == [("W0106", "warning")]


def test_warnings_never_hide_tokens() -> None:
    found = tokenize(Source("<test>", '"' + "\\q" * 1000 + '" x 09'))
    assert [token.kind for token in found.tokens] == ["string", "name", "number", "end"]
    assert found.diagnostics[-1].code == "E0104"


def test_line_ends_of_other_systems() -> None:
    assert words('#define A 1 \\\r\n + 2\r\n// c\r\nA "a"\r\n"b"\r\n') == '1 + 2 "a"'
    (found,) = tokenize(Source("<test>", '"a\r\nx')).diagnostics
    assert found.span.text == '"a'


def test_space_before_a_token_is_known() -> None:
    assert [token.spaced for token in tokens("a (b)/**/c +++d")] == [
        False,
        True,
        False,
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "doc"),
    [
        ("/* adds */\nint f() {}", "adds"),
        ("// one\n//  two\nint f() {}", "one\n two"),
        ("/**\n * Adds.\n *\n * @param a\n **/\nint f() {}", "Adds.\n\n@param a"),
        ("/* far */\n\nint f() {}", ""),
        ("use M: all; // trailing\nint f() {}", ""),
        ("use M: all;\n// right\nint f() {}", "right"),
        ("/* about the macro */\n#define N 1\nint f() {}", ""),
        ("#define INT int\n/* adds */\nINT f() {}", "adds"),
    ],
)
def test_comment_right_above_documents(text: str, doc: str) -> None:
    (before,) = [a for a, b in zip(tokens(text), tokens(text)[1:], strict=False) if b.text == "f"]
    assert before.doc == doc


def test_comments_are_kept_with_their_offsets() -> None:
    text = "a /* one\ntwo */ b // three \\\nfour\nc"
    found = tokenize(Source("<test>", text))
    assert found.trivia == ((2, "/* one\ntwo */"), (18, "// three \\\nfour"))
    assert all(text.startswith(comment, offset) for offset, comment in found.trivia)
    assert [token.text for token in found.tokens] == ["a", "b", "c", ""]


def test_span_of_every_token_is_its_text() -> None:
    text = "int f(int[n] a) { x = a[iv] +++^ .5e3f; return 'a'; }"
    assert [token.span.text for token in tokens(text)] == [token.text for token in tokens(text)]


def test_end_stands_at_the_end() -> None:
    end = tokenize(Source("<test>", "a\n")).tokens[-1]
    assert (end.kind, end.span.start, end.span.end) == ("end", 2, 2)
    assert len(tokenize(Source("<test>", "")).tokens) == 1


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("pritn", ["print", "printf", "sprint", "paint"], ["print"]),
        ("Shape", ["shape", "reshape"], ["shape"]),
        ("x", ["y", "xs"], []),
        ("sum", ["sum", "sun", "prod"], ["sun"]),
        ("lenght", ["length", "width"], ["length"]),
        ("completelyother", ["print", "sum"], []),
        ("", ["a"], []),
        ("gen", ["genarray"], []),
        ("gena", ["genarray"], ["genarray"]),
    ],
)
def test_closest_names(name: str, candidates: list[str], expected: list[str]) -> None:
    assert closest(name, candidates)[:1] == expected
