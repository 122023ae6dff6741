"""A session of sixty inputs, a third of them wrong: nothing is lost, and each mistake is shown with its place and a way
out."""

from sacpy.interp.world import World
from sacpy.lang.diagnostics import render_text
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.repl.parts import is_command
from sacpy.workspace import Workspace

# Inputs, and what they show; a code where they are wrong.
SESSION = (
    ("x = 3", ""),
    ("x + 4", "int 7"),
    ("ans * 2", "int 14"),
    ("y = x + 1.5", "E0403"),
    ("y = tod(x) + 1.5; y", "double 4.5"),
    ("v = iota(6);", ""),
    ("v[9]", "E0506"),
    ("v[9] = 1", "E0506"),
    ("v[5] = 50; v", "int[6] [0, 1, 2, 3, 4, 50]"),
    ("w = v; w[0] = 100; v[0]", "int 0"),
    ("#define SQ(a) ((a) * (a))\n", ""),
    ("SQ(x)", "int 9"),
    ("SQ(x, 2)", "E0119"),
    ("int f(int a) { return SQ(a) + 1; }", ""),
    ("f(4)", "int 17"),
    ("f(4.0)", "E0403"),
    ("int f(int a) { return a + 1.5; }", "E0403"),
    ("f(4)", "int 17"),
    ("int f(int a) { return g(a); }", "W0732"),
    ("f(4)", "E0307"),
    ("int g(int a) { return 10 * a; }", ""),
    ("f(4)", "int 40"),
    ("struct P { double[2] at; int id; };", ""),
    ("p = P{[1.0, 2.0], 7}", ""),
    ("p.at[1] = 5.0; p.at", "double[2] [1.0, 5.0]"),
    ("p.on", "E0410"),
    ("p = P{1}", "E0412"),
    ("p.id", "int 7"),
    ("m = reshape([2, 3], iota(6))", ""),
    ("m", "int[2,3]\n  0  1  2\n  3  4  5"),
    ("m + [1, 2]", "E0503"),
    ("m[., 1]", "int[2] [1, 4]"),
    ("reshape([4], m)", "E0511"),
    ("{ [i, j] -> m[j, i] }", "int[3,2]\n  0  3\n  1  4\n  2  5"),
    ("{ [i] -> i }", "E0430"),
    ("x = (1 + ", "E0205"),
    ("x = 1 +) 2", "E0205"),
    ("int h(int a) {", "E0204"),
    ("foo bar", "E0206"),
    ("x", "int 3"),
    ("use Constants: all", ""),
    ("use Konstants: all", "E0301"),
    ("maxint()", "int 2147483647"),
    ("maxint() + 1", "int -2147483648"),
    ("x / 0", "E0603"),
    ("int loop(int n) { return n == 0 ? v[9] : loop(n - 1); }", "E0305"),
    ("int deep(int[.] a, int n) { return n == 0 ? a[9] : deep(a, n - 1); }", ""),
    ("deep(v, 3)", "E0601"),
    ("for (i = 0; i < 9; i++) { v[i] = 0; }", "E0601"),
    ("sum(v)", "int 60"),
    (":type m", "int[2,3]"),
    (":typ m", "E0733"),
    (":set digits 99", "E0747"),
    (":time", "E0730"),
    (":load /no/such.sac", "E0303"),
    ("?nothing", "E0734"),
    ('s = "text"; s', 'string "text"'),
    ("s + 1", "E0403"),
    ('"no end', "E0102"),
    ("[x, f(x), tobool(1) ? 1 : 0]", "int[3] [3, 30, 1]"),
)
ENDS_WITH = {
    "x": "int",
    "y": "double",
    "v": "int[6]",
    "w": "int[6]",
    "p": "struct P",
    "m": "int[2,3]",
    "s": "string",
    "ans": "int[3]",
}


def test_a_session_of_sixty_inputs() -> None:
    world = World.captured()
    engine = Engine(Workspace(), world)
    wrong = 0
    for typed, expected in SESSION:
        names = dict(engine.variables)
        before = len(world.out())
        shown, outcome = obey(engine, typed) if is_command(typed) else ("", engine.enter(typed))
        shown = (world.out()[before:].decode() + shown).rstrip("\n")
        found = [d for d in outcome.diagnostics if d.severity != "note"]
        if not expected.startswith(("E0", "W0")):
            assert (shown, found) == (expected, []), typed
            continue
        assert found and {d.code for d in found} == {expected}, (typed, found)
        assert shown == ""
        if expected.startswith("W"):
            continue
        wrong += 1
        assert {n: v.text for n, v in engine.variables.items()} == {n: v.text for n, v in names.items()}, typed
        text = render_text(found)
        assert "^" in text, text
        assert all(d.help for d in found), text
    assert len(SESSION) == 60 and wrong >= 20
    assert {n: v.type_text for n, v in engine.variables.items()} == ENDS_WITH
