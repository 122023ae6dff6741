"""`sacpy dap`, driven by a client as an editor is one."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools import ROOT

PROGRAM = """use StdIO: all;
use Array: all;
use CommandLine: all;

int[n] g(int[n] v, int k)
{
  y = v + k;
  return y;
}

int main()
{
  a = iota(3);
  b = g(a, 2);
  printf("%d\\n", sum(b));
  c = b[argc()];
  return c;
}
"""


class Client:
    """Sends requests and waits for responses and events."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sacpy", "dap"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.timer = threading.Timer(60, self.process.kill)  # what waits for something that does not come, fails
        self.timer.start()
        self.count = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.count += 1
        data = json.dumps({"seq": self.count, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == self.count:
                return message
            self.events.append(message)

    def body(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask(command, **arguments)
        assert answer["success"], answer
        found: dict[str, Any] = answer.get("body", {})
        return found

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = int(self.process.stdout.readline().partition(b":")[2])
        self.process.stdout.readline()
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found

    def event(self, name: str) -> dict[str, Any]:
        """The next event of that name; those before it are left out."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            if message.get("event") == name:
                found: dict[str, Any] = message["body"]
                return found

    def variables(self, frame: int) -> dict[str, str]:
        (scope,) = self.body("scopes", frameId=frame)["scopes"]
        found = self.body("variables", variablesReference=scope["variablesReference"])["variables"]
        return {one["name"]: one["value"] for one in found}


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.timer.cancel()
    made.process.kill()
    made.process.wait()


def launched(client: Client, folder: Path, text: str = PROGRAM, **settings: Any) -> str:
    path = str(folder / "p.sac")
    Path(path).write_text(text)
    assert client.body("initialize", adapterID="sac")["supportsConfigurationDoneRequest"]
    client.body("launch", program=path, **settings)
    client.event("initialized")
    return path


def test_a_session(client: Client, tmp_path: Path) -> None:
    path = launched(client, tmp_path)
    points = client.body("setBreakpoints", source={"path": path}, breakpoints=[{"line": 12}, {"line": 99}])
    assert [(b["verified"], b.get("line")) for b in points["breakpoints"]] == [(True, 13), (False, None)]
    client.body("setFunctionBreakpoints", breakpoints=[{"name": "nosuch"}])
    client.body("configurationDone")
    assert client.event("stopped")["reason"] == "breakpoint"
    client.body("next", threadId=1)
    assert client.event("stopped")["reason"] == "step"
    client.body("stepIn", threadId=1)
    client.event("stopped")
    stack = client.body("stackTrace", threadId=1)["stackFrames"]
    assert [(f["name"], f["line"], f["source"]["path"]) for f in stack] == [
        ("g", 7, str(Path(path).resolve())), ("main", 14, str(Path(path).resolve())),
    ]  # fmt: skip
    assert client.variables(stack[0]["id"]) == {"v": "int[3] [0, 1, 2]", "k": "int 2"}
    assert client.variables(stack[1]["id"]) == {"a": "int[3] [0, 1, 2]"}
    client.body("stepOut", threadId=1)
    client.event("stopped")
    (frame,) = client.body("stackTrace", threadId=1)["stackFrames"]
    assert (frame["name"], frame["line"]) == ("main", 15)
    found = client.body("evaluate", expression="b", frameId=frame["id"])
    assert (found["result"], found["type"]) == ("int[3] [2, 3, 4]", "int[3]")
    rows = client.body("variables", variablesReference=found["variablesReference"])["variables"]
    assert [(r["name"], r["value"]) for r in rows] == [("[0]", "int 2"), ("[1]", "int 3"), ("[2]", "int 4")]
    assert client.body("evaluate", expression="sum(b) * 2 + argc()", frameId=frame["id"])["result"] == "int 19"
    assert client.body("evaluate", expression="g(b, 1)[[2]]")["result"] == "int 5"
    assert client.ask("evaluate", expression="zz")["message"] == "zz is not defined"
    assert client.ask("evaluate", expression="b + [1, 2]")["success"] is False
    why = client.body("evaluate", expression="why b[1]", context="repl")["result"]
    assert why.startswith("b[1] was made by a statement, in g at p.sac:7: v + k\n  v = int[3] [0, 1, 2]\n  k = int 2")
    assert "has the shape [3]" in client.ask("evaluate", expression="why b[3]")["message"]
    client.body("continue", threadId=1)
    assert client.event("output") == {"category": "stdout", "output": "9\n"}
    assert client.event("exited") == {"exitCode": 3}
    client.event("terminated")
    client.body("disconnect")
    assert client.process.wait(10) == 0


def test_an_error_stops_the_program_where_it_is(client: Client, tmp_path: Path) -> None:
    launched(client, tmp_path, args=["1", "2", "3"])
    client.body("configurationDone")
    stopped = client.event("stopped")
    assert client.body("exceptionInfo", threadId=1)["exceptionId"] == "E0601"
    assert (stopped["reason"], stopped["description"]) == ("exception", "E0601")
    assert stopped["text"] == "index [4] is out of range for the shape [3]"
    (frame,) = client.body("stackTrace", threadId=1)["stackFrames"]
    assert frame["line"] == 16
    assert client.variables(frame["id"])["b"] == "int[3] [2, 3, 4]"
    assert "in g at p.sac:7" in client.body("evaluate", expression="why b[0]")["result"]
    client.body("continue", threadId=1)
    assert client.event("exited") == {"exitCode": 1}


def test_programs_with_mistakes_and_unknown_requests_are_refused(client: Client, tmp_path: Path) -> None:
    (tmp_path / "p.sac").write_text("int main() { return x; }")
    client.body("initialize")
    assert "error[E0305]" in client.ask("launch", program=str(tmp_path / "p.sac"))["message"]
    assert client.ask("fly")["message"] == "sacpy dap does not know the request fly"
    assert client.ask("next")["message"] == "the program does not stand still"
    assert client.ask("evaluate", expression="1")["message"] == "the program does not stand still"
    assert client.ask("setBreakpoints")["success"] is False  # without its arguments; and the session goes on
    assert client.ask("threads")["success"]


def test_a_program_that_never_ends_can_be_paused_and_ended(client: Client, tmp_path: Path) -> None:
    launched(client, tmp_path, "use Array: all; int main() { i = 0; while (true) { i = i + 1; } return i; }")
    client.body("configurationDone")
    client.body("pause", threadId=1)
    assert client.event("stopped")["reason"] == "step"
    client.body("continue", threadId=1)
    client.body("disconnect")
    assert client.process.wait(10) == 0


ROUNDS = """use Array: all;
int rounds(int n)
{
  s = 0;
  for (i = 0; i < n; i++) {
    s = s + i * i;
  }
  return s;
}
int main() { a = rounds(4); b = rounds(9); return a + b; }
"""


def test_conditions_counts_and_messages_of_breakpoints(client: Client, tmp_path: Path) -> None:
    path = launched(client, tmp_path, ROUNDS)
    points = [
        {"line": 6, "condition": "i == 2 && n > 4"},
        {"line": 8, "logMessage": "s is {s}, and {nosuch} {s * 2}"},
        {"line": 4, "hitCondition": "often"},
    ]
    found = client.body("setBreakpoints", source={"path": path}, breakpoints=points)["breakpoints"]
    assert [b["verified"] for b in found] == [True, True, False]
    client.body("setFunctionBreakpoints", breakpoints=[{"name": "rounds", "hitCondition": ">= 2"}])
    client.body("configurationDone")
    assert "interpreted" in client.event("output")["output"]
    assert client.event("output")["output"] == (
        "s is int 14, and {nosuch: nosuch is not defined} int 28\n"
    )  # the first call has gone by
    client.event("stopped")
    assert client.variables(1 + 1)["n"] == "int 9"
    client.body("continue", threadId=1)
    assert client.event("stopped")["reason"] == "breakpoint"
    assert client.variables(1 + 1)["i"] == "int 2"
    client.body("setBreakpoints", source={"path": path}, breakpoints=[{"line": 6, "condition": "i + 1"}])
    client.body("continue", threadId=1)
    assert "is no condition" in client.event("output")["output"]
    client.event("stopped")
    client.body("setBreakpoints", source={"path": path}, breakpoints=[])
    client.body("continue", threadId=1)
    assert client.event("exited") == {"exitCode": 14 + 204}


def test_main_takes_the_words_of_a_launch(client: Client, tmp_path: Path) -> None:
    text = "int main(int[.] v, int k)\n{\n  return v[k];\n}\n"
    launched(client, tmp_path, text, args=["[5, 6]", "1"], stopOnEntry=True)
    client.body("configurationDone")
    assert client.event("stopped")["reason"] == "entry"
    assert client.variables(1) == {"v": "int[2] [5, 6]", "k": "int 1"}
    client.body("continue", threadId=1)
    assert client.event("exited") == {"exitCode": 6}
