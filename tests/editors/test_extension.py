"""The extension for VS Code: what its manifest promises is there, and its debugger starts our adapter."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sacpy.commands.options import parse
from sacpy.commands.settings import COMMANDS
from tests.tools import ROOT

FOLDER = ROOT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text())
GIVEN: dict[str, Any] = MANIFEST["contributes"]
SCRIPT = (FOLDER / "extension.js").read_text()


def test_files_that_are_named_are_there() -> None:
    named = [*(g["path"] for g in GIVEN["grammars"]), *(x["configuration"] for x in GIVEN["languages"])]
    paths = [MANIFEST["main"], *named]
    assert [path for path in paths if not (FOLDER / path).is_file()] == []


def test_commands_are_declared_registered_and_in_menus() -> None:
    declared = {c["command"] for c in GIVEN["commands"]}
    assert declared == set(re.findall(r'registerCommand\("([^"]+)"', SCRIPT))
    assert {entry["command"] for entries in GIVEN["menus"].values() for entry in entries} <= declared


def test_settings_that_are_read_are_declared() -> None:
    read = set(re.findall(r'\bset\.get\("(\w+)"\)|settings\(\)\.get\("(\w+)"\)', SCRIPT))
    assert {f"sacpy.{a or b}" for a, b in read} == set(GIVEN["configuration"]["properties"])


def test_the_debugger_is_ours() -> None:
    (debugger,) = GIVEN["debuggers"]
    languages = {x["id"] for x in GIVEN["languages"]}
    assert set(debugger["languages"]) <= languages
    assert {b["language"] for b in GIVEN["breakpoints"]} <= languages
    assert f"onDebugResolve:{debugger['type']}" in MANIFEST["activationEvents"]
    launch = debugger["configurationAttributes"]["launch"]
    adapter = (ROOT / "sacpy/dap/adapter.py").read_text()
    body = adapter[adapter.index("def on_launch") : adapter.index("def on_configurationDone")]
    assert set(launch["properties"]) == set(re.findall(r'arguments\.get\("(\w+)"', body))
    for one in (*debugger["initialConfigurations"], *(s["body"] for s in debugger["configurationSnippets"])):
        assert one["type"] == debugger["type"] and one["request"] == "launch" and one["name"]
        assert set(one) - {"type", "request", "name"} <= set(launch["properties"])
        assert set(launch["required"]) <= set(one)


MOCK = """
const registered = { commands: {}, factories: {}, providers: {}, started: [] };
const uri = { fsPath: "/p.sac", toString: () => "file:///p.sac" };
const document = { languageId: "sac", uri, save: async () => true };
const settings = { command: "/bin/sacpy", modules: ["m"], includes: ["i"], defines: ["N=1"] };
const vscode = {
  workspace: { getConfiguration: () => ({ get: (key) => settings[key] }), onDidChangeConfiguration: () => ({}) },
  window: { activeTextEditor: { document }, showErrorMessage: (text) => { throw new Error(text); } },
  commands: { registerCommand: (name, action) => { registered.commands[name] = action; } },
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => { registered.factories[type] = factory; },
    registerDebugConfigurationProvider: (type, provider) => { registered.providers[type] = provider; },
    startDebugging: async (folder, configuration) => { registered.started.push(configuration); },
  },
  DebugAdapterExecutable: class { constructor(command, args) { this.command = command; this.args = args; } },
};
class LanguageClient { async start() {} async stop() {} }
const Module = require("module");
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
(async () => {
  await require(process.argv[2]).activate({ subscriptions: [] });
  await registered.commands["sacpy.debug"]();
  const adapter = registered.factories.sac.createDebugAdapterDescriptor();
  const kept = registered.providers.sac.resolveDebugConfiguration(undefined, { type: "sac", program: "/q.sac" });
  console.log(JSON.stringify({ started: registered.started, adapter, kept }));
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_extension_starts_the_adapter(tmp_path: Path) -> None:
    script = tmp_path / "activate.js"
    script.write_text(MOCK)
    done = subprocess.run(
        ["node", str(script), str(FOLDER / "extension.js")], capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(done.stdout)
    assert found["adapter"] == {"command": "/bin/sacpy", "args": ["dap", "-L", "m", "-I", "i", "-D", "N=1"]}
    assert parse(found["adapter"]["args"]).command == "dap" and "dap" in COMMANDS
    assert found["started"] == [{"type": "sac", "request": "launch", "name": "Debug this program", "program": "/p.sac"}]
    assert found["kept"] == {"type": "sac", "program": "/q.sac"}
