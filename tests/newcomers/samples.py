"""Programs that say what other languages say, one for each row of `sacpy/lang/advice/words.txt`.

In: a row. Out: a program in which its pattern stands, the letters of the pattern being variables, and nothing else is
wrong. Where a pattern alone makes no statement, `SAMPLES` has one.
"""

from __future__ import annotations

import re

from sacpy.lang.advice.table import Row

HEAD = """use StdIO: all;
use Array: all;

double f(double x)
{
  return x + 1.0;
}

int, double pair(double x)
{
  return (1, x);
}

void sample(double[.] v, double[.] w, double[.,.] m, double[.,.] a, int n, int k, int p,
            double x, double y, double z, bool b, bool c, int[.] u, char q)
{
  s = "text";
  t = "more";
"""
TAIL = "\n}\n\nint main()\n{\n  return 0;\n}\n"
PROGRAM = "use Array: all;\n{}\nint other() {{ return 0; }}\n"

SAMPLES = {
    "log(x, y)": "r = log(x, y);",
    "concat(v, w)": "r = concat(v, w);",
    "newline()": "newline();",
    "println()": "println();",
    "v[-n]": "r = [1, 2, 3][-1];",
    "print(l, ..)": 'print("x:", x, y, z);',
    "print o": "print x;",
    "echo o": "echo x;",
    "puts o": "puts x;",
    "disp o": "disp x;",
    "sqrt o": "r = sqrt x;",
    "print(x, y)": "print(x, y);",
    "print(x, y, z)": "print(x, y, z);",
    "printf(x)": "printf(x);",
    "reshape(v, n)": "r = reshape(v, n);",
    "not o": "r = not b;",
    "v[b] = ..;": "v[v > x] = y;",
    "v[b]": "r = v[v > x];",
    "[.. for i, j in zip(v, w)]": "r = [i * j for i, j in zip(v, w)];",
    "[.. for (i, j) in zip(v, w)]": "r = [i * j for (i, j) in zip(v, w)];",
    "sum(.. for i in v)": "r = sum(i * i for i in v);",
    "max(.. for i in v)": "r = max(i * i for i in v);",
    "min(.. for i in v)": "r = min(i * i for i in v);",
    "all(.. for i in v)": "r = all(i > 0.0 for i in v);",
    "any(.. for i in v)": "r = any(i > 0.0 for i in v);",
    "[n, k; p, q]": "r = [n, k; p, 3];",
    "[n k; p q]": "r = [n k; p 3];",
    ".. and ...": "r = b and x < y;",
    ".. or ...": "r = b or x < y;",
    "{ [i] => .. }": "r = { [i] => v[i] };",
    "{ i => .. }": "r = { i => v[i] };",
    "long long": PROGRAM.format("long long same(longlong x) { return x; }"),
    "long int": PROGRAM.format("long int same(long x) { return x; }"),
    "short int": PROGRAM.format("short int same(short x) { return x; }"),
    "long double": PROGRAM.format("long double same(double x) { return x; }"),
    "public class f {": PROGRAM.format("public class Point { double x; };"),
    "sum o": "r = sum v;",
    "prod o": "r = prod v;",
    "shape o": "r = shape m;",
    "iota o": "r = iota n;",
    "x |> f": "r = x |> f;",
    "\\f l": 'r = f"n is {n}";',
    "cin >> n": "cin >> n; r = n;",
    "\\\\i -> ..": "r = \\i -> i;",
    "if o {": "if b { x = y; }",
    "if o:": "if b: x = y;",
    "if (b) then": "if (b) then x = y;",
    "if o then": "if b then x = y;",
    "if o, ..": "if b, x = y; end",
    "while o {": "while b { b = false; }",
    "while o:": "while b: b = false;",
    "while o do": "while b do b = false;",
    "elif (b)": "if (c) { x = y; } elif (b) { x = z; }",
    "elsif (b)": "if (c) { x = y; } elsif (b) { x = z; }",
    "elseif (b)": "if (c) { x = y; } elseif (b) { x = z; }",
    "elseif o": "if (c) { x = y; } elseif b { x = z; }",
    "elif o:": "if (c) { x = y; }\n  elif b:\n    x = z;",
    "else:": "if (c) { x = y; }\n  else:\n    x = z;",
    "unless (b) {": "unless (b) { x = y; }",
    "loop {": "loop { x = y; }",
    "repeat {": "repeat { x = y; }",
    "} until (b);": "do { x = y; } until (b);",
    "try {": "try { x = y; }",
    "switch o {": "switch n { case 1: x = y; }",
    "switch (n) {": "switch (n) { case 1: x = y; }",
    "match o {": "match n { 1 => x }",
    "match o:": "match n:\n    case 1: x = y;",
    "case n of": "case n of 1: x := y;",
    "for (i in n:k)": "for (i in 1:3) { x = y; }",
    "for (let i = n; i < k; i++)": "for (let i = n; i < k; i++) { x = y; }",
    "for (var i = n; i < k; i++)": "for (var i = n; i < k; i++) { x = y; }",
    "for (auto i = n; i < k; i++)": "for (auto i = n; i < k; i++) { x = y; }",
    "for i in range(n) {": "for i in range(n) { x = y; }",
    "for i in 0\\..n {": "for i in 0..n { x = y; }",
    "for i in n\\..k {": "for i in n..k { x = y; }",
    "for (i in 0:n) {": "for (i in 0:n) { x = y; }",
    "(i, j) = ..;": "(i, j) = pair(x);",
    "[i, j] = ..;": "[i, j] = pair(x);",
    "i, j = x, y;": "i, j = x, y;",
    "-- ..": "x = y; -- to be read",
    "% ..": "x = y; % to be read",
    "# ..": "x = y; # to be read",
    "int f(int x) = ..;": PROGRAM.format("int next(int x) = x + 1;"),
    "double f(double x) = ..;": PROGRAM.format("double next(double x) = x + 1.0;"),
    "return .. if b else ...": PROGRAM.format("int less(int x, int y)\n{\n  return x if x < y else y;\n}"),
    "return x, y;": PROGRAM.format("int, int both(int x, int y)\n{\n  return x, y;\n}"),
    "use f::g;": PROGRAM.format("use Math::sqrt;"),
    "from f import g;": PROGRAM.format("from Math import sqrt;"),
    "import f": PROGRAM.format("import numpy"),
    "import f as g": PROGRAM.format("import numpy as np"),
    "from f import ..": PROGRAM.format("from numpy import *"),
    "public static void main(..)": PROGRAM.format("public static void main(String[] args)\n{\n  return 0;\n}"),
    "static int main(..)": PROGRAM.format("static int main(int argc)\n{\n  return 0;\n}"),
    "int main(int f, char **g)": PROGRAM.format("int main(int argc, char **argv)\n{\n  return 0;\n}"),
    "int main(int f, char *g[])": PROGRAM.format("int main(int argc, char *argv[])\n{\n  return 0;\n}"),
    "void main(..)": PROGRAM.format("void main(string args)\n{\n  return 0;\n}"),
    "fn main()": PROGRAM.format("fn main()\n{\n  return 0;\n}"),
    "func main()": PROGRAM.format("func main()\n{\n  return 0;\n}"),
    "def main():": PROGRAM.format("def main():\n{\n  return 0;\n}"),
    "enum f {": PROGRAM.format("enum Colour { RED, GREEN };"),
    "enum {": PROGRAM.format("enum { RED, GREEN };"),
    "class f {": PROGRAM.format("class Point { double x; };"),
    "class f:": PROGRAM.format("class Point:\n"),
    "union f {": PROGRAM.format("union Both { int n; double x; };"),
    "interface f {": PROGRAM.format("interface Point { double x; };"),
    "typedef struct {": PROGRAM.format("typedef struct { double x; } Point;"),
    "template <..>": PROGRAM.format("template <class T> T twice(T x) { return x; }"),
    "type f struct {": PROGRAM.format("type Point struct { double x; };"),
    "type f = ..": PROGRAM.format("type Number = double"),
    "data f = ..": PROGRAM.format("data Number = Real"),
    "record f(": PROGRAM.format("record Point(double x) {}"),
    "struct f(": PROGRAM.format("struct Point(double x);"),
    "@f": PROGRAM.format("@jit\nint next(int x) { return x + 1; }"),
}
_DOING = (
    "exit(",
    "quit(",
    "assert(",
    "abort(",
    "free(",
    "srand(",
    "seed(",
    "swap(",
    "strcpy(",
    "log(x",
    "cout",
    "forEach",
    "print",
    "write",
    "disp",
    "echo",
    "puts",
    "cat(",
    "putStrLn",
    "Println",
    "WriteLine",
    "who",
    "newline",
    "pprint",
)


def sample(row: Row) -> str:
    """A program in which the pattern of a row stands."""
    text = SAMPLES.get(row.pattern.text)
    if text is None:
        text = _statement(
            row,
            re.sub(
                r"\\(.)",
                r"\1",
                row.pattern.text
                if "\\." in row.pattern.text
                else row.pattern.text.replace("...", "y").replace("..", "x"),
            ),
        )
    return text if "other()" in text else HEAD + "  " + text + TAIL


def _statement(row: Row, text: str) -> str:
    match row.section:
        case "modules":
            return PROGRAM.format(f"use {text}: all;")
        case "types":
            return PROGRAM.format(f"int same({text} q)\n{{\n  return 0;\n}}")
        case "statements":
            return text + " x = y; }" if text.endswith("{") else text
    if text.endswith(";") or " = " in text:
        return text if text.endswith(";") else text + ";"
    doing = text.startswith(_DOING) or any(
        word in text for word in (".log(", "cout", "print", "WriteLine", "Println", "forEach")
    )
    return text + ";" if doing else f"r = {text};"
