"""The style: what a text looks like afterwards."""

import re

import pytest

from sacpy.lang.diagnostics import SacError
from sacpy.lang.formatter import format_text
from tests.tools import ROOT


def body(text: str) -> str:
    """The formatted statements of a function."""
    new = format_text("int f(int a, int b)\n{\n" + text + "\nreturn a;\n}\n")
    assert format_text(new) == new
    lines = new.split("\n")
    return "\n".join(line[2:] for line in lines[2:-3])


STATEMENTS = {
    "x=-1;": "x = -1;",
    "x = - -b;": "x = - -b;",
    "x=a+++^b;": "x = a ++ +^b;",
    "x=a Array::*b;": "x = a Array::* b;",
    "x=+(a,b);": "x = +(a, b);",
    "s=with{(a<iv<b):0;}:fold( + ,0 );": "s = with { (a < iv < b) : 0; } : fold(+, 0);",
    "x=( int[3,2] ) a;": "x = (int[3,2])a;",
    "x = [: double[0,3] ];": "x = [:double[0,3]];",
    "x = y[ i , . ] + y[i+1,j] + y[[i , j]];": "x = y[i,.] + y[i + 1, j] + y[[i,j]];",
    "x=[ 1,2 ,3 ];": "x = [1, 2, 3];",
    "p.x[ 2 ].y+=P{ .x=1 , .y=2 }.x;": "p.x[2].y += P{.x = 1, .y = 2}.x;",
    "a,b=f(b,a) ;": "a, b = f(b, a);",
    "x={[i,j]->y[i]|[i,j]<[3,n]};": "x = { [i,j] -> y[i] | [i,j] < [3,n] };",
    "x=with{(.<=iv<.):0;}:genarray([n,m],0);": "x = with { (. <= iv < .) : 0; } : genarray([n, m], 0);",
    "x=with{}:genarray([ ],0);": "x = with { } : genarray([], 0);",
    "while(a<3)a++;": "while (a < 3) a++;",
    "for(i=0,j=1;i<3;i++,--j){}": "for (i = 0, j = 1; i < 3; i++, --j) { }",
    "do{a--;}while(a>0);": "do {\n  a--;\n} while (a > 0);",
    "if(a<1){b=1;}\nelse if(a<2){b=2;}\nelse{b=3;}": "if (a < 1) {\n  b = 1;\n} else if (a < 2) {\n  b = 2;\n"
    "} else {\n  b = 3;\n}",
    "if(a)if(b)x=1;else x=2;": "if (a)\n  if (b) x = 1;\n  else x = 2;",
    "x=a<0?1:b;": "x = a < 0 ? 1 : b;",
    "x = 1;\n\n\n\n\ny = 2;": "x = 1;\n\ny = 2;",
    "x=f(a,// first\nb);// all": "x = f(a,  // first\n      b); // all",
    "x=1; // one\nlonger=22; /* two */": "x = 1;       // one\nlonger = 22; /* two */",
    "m=[[1,-20],\n[300,4]];": "m = [[  1, -20],\n     [300,   4]];",
}


@pytest.mark.parametrize("text", STATEMENTS, ids=str)
def test_statements(text: str) -> None:
    assert body(text) == STATEMENTS[text]


DEFINITIONS = {
    "use A:all except{f,+};": "use A: all except { f, + };\n",
    "typedef  double[2]complex;": "typedef double[2] complex;\n",
    "struct S{int a,b;double[.,.]c;};": "struct S { int a, b; double[.,.] c; };\n",
    "struct S{\nint a; // how many\n};": "struct S {\n  int a; // how many\n};\n",
    "inline int +( int a,int b ){return a;}": "inline int +(int a, int b) { return a; }\n",
    "int f( File&x,... );": "int f(File &x, ...);\n",
    'external double g(double x);\n#pragma linkname "gee"\n#pragma linksign [0, 1]': "external double g(double x);\n"
    '  #pragma linkname "gee"\n  #pragma linksign [0, 1]\n',
    "double[n] f(double[n , d : shp] v)|(n>2){return v[0];}": "double[n] f(double[n,d:shp] v) | (n > 2) { return "
    "v[0]; }\n",
    "objdef World w=create( );": "objdef World w = create();\n",
    "#define  A( x )  ( x )\n   #if  1\nint f(){ return A( 1 ) ; }\n  #endif": "#define  A( x )  ( x )\n#if  1\n"
    "int f() { return A(1); }\n#endif\n",
}


@pytest.mark.parametrize("text", DEFINITIONS, ids=str)
def test_definitions(text: str) -> None:
    new = format_text(text)
    assert new == DEFINITIONS[text]
    assert format_text(new) == new


LONG = """\
double[.] smooth(double[n] values, double[n] weights, double[k] neighbourhood, bool[n] boundary) | (n > 2), (k < n)
{ return { [i] -> where(boundary[i], values[i], (weights[i - 1] * values[i - 1] + weights[i + 1] * values[i + 1]) \
/ (weights[i - 1] + weights[i + 1])) | [1] <= [i] < [n - 1];
[i] -> values[i] | [i] < [n] }; }
void report(double total) { printf("after %d steps the total is %g, of which %g were there at the beginning\\n", \
steps(total), total, beginning(total)); }
"""
BROKEN = """\
double[.] smooth(double[n] values, double[n] weights, double[k] neighbourhood, bool[n] boundary)
    | (n > 2), (k < n)
{
  return { [i] -> where(boundary[i], values[i],
                        (weights[i - 1] * values[i - 1] + weights[i + 1] * values[i + 1])
                        / (weights[i - 1] + weights[i + 1]))
             | [1] <= [i] < [n - 1];
           [i] -> values[i] | [i] < [n] };
}

void report(double total)
{
  printf("after %d steps the total is %g, of which %g were there at the beginning\\n", steps(total),
         total, beginning(total));
}
"""


def test_long_lines_are_broken_where_little_holds_together() -> None:
    assert format_text(LONG) == BROKEN


def test_comments_and_directives_stay_where_they_are() -> None:
    text = """\
/* What it is for:
     an example */
int f(int a)
{
  // first
#ifdef TRACE
  print(a); /* two
               lines */
#else

  a = a /* inner */ + 1;
#endif
  return a;
  // last
}
// the end
"""
    assert format_text(text) == text


def test_parts_of_a_condition_that_open_different_braces_are_left_alone() -> None:
    text = "#ifdef A\nint f(int a)   {\n#else\nint f(double a)   {\n#endif\n  return   1;\n}\n"
    assert format_text(text + "int g( ){return 1;}\n") == text + "int g() { return 1; }\n"


def test_arguments_that_become_strings_keep_their_blanks() -> None:
    text = '#define SHOW(x) printf("%s", #x)\nvoid f(int a, int b)\n{\n  SHOW(a+b  *  2);\n}\n'
    assert format_text(text) == text


def test_a_text_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SacError) as caught:
        format_text("int f( { return 1; }")
    assert caught.value.diagnostics[0].code.startswith("E02")


def test_a_macro_that_hides_braces_is_left_alone_or_refused_but_never_changed() -> None:
    text = "#define BEGIN {\n#define END }\nint f(int a) BEGIN a=1; return a; END\n"
    assert "BEGIN" in format_text(text) and format_text(format_text(text)) == format_text(text)


def test_ends_of_lines_and_odd_bytes_are_kept() -> None:
    assert format_text("int f(){return 1;}\r\n// \udcff\r\n") == "int f() { return 1; }\r\n// \udcff\r\n"


def test_an_empty_file_stays_empty() -> None:
    assert format_text("") == ""
    assert format_text("\n\n// only this\n\n") == "// only this\n"


def test_deep_nesting_is_no_problem() -> None:
    deep = "(" * 250 + "a" + ")" * 250
    assert f"return {deep};" in format_text(f"int f(int a) {{ return {deep}; }}")


def test_a_script_keeps_its_first_line() -> None:
    assert (
        format_text("#!/usr/bin/env sacpy\nint main(){return 0;}") == "#!/usr/bin/env sacpy\nint main() { return 0; }\n"
    )
    assert format_text("#!/usr/bin/env sacpy\n\n\n// x\n") == "#!/usr/bin/env sacpy\n\n// x\n"


def test_the_example_in_the_documentation_is_what_fmt_gives() -> None:
    text = (ROOT / "docs/editors.md").read_text(encoding="utf-8")
    before, after = (re.search(rf"<!-- {mark} -->\n```sac\n(.*?)```", text, re.DOTALL) for mark in ("before", "after"))
    assert before is not None and after is not None
    assert format_text(before[1]) == after[1]


def test_long_sums_of_short_terms_fill_lines() -> None:
    total = " + ".join(["a[i]"] * 30)
    new = format_text(f"int f(int[.] a, int i) {{ x = {total}; return x; }}")
    lines = [line for line in new.splitlines() if "a[i] +" in line]
    assert (
        len(lines) == 3 and all(line.startswith("      + a[i]") for line in lines[1:]) and max(map(len, lines)) <= 100
    )
