// Starts `sacpy lsp` for SaC files, and runs programs in a terminal.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  return vscode.workspace.getConfiguration("sacpy");
}

function options() {
  const set = settings();
  const each = (flag, values) => values.flatMap((value) => [flag, value]);
  return [...each("-L", set.get("modules")), ...each("-I", set.get("includes")), ...each("-D", set.get("defines"))];
}

async function start() {
  const set = settings();
  const server = { command: set.get("command"), args: ["lsp", ...options()] };
  client = new LanguageClient("sacpy", "SaC", server, {
    documentSelector: [{ language: "sac" }],
    initializationOptions: { strategy: set.get("strategy"), device: set.get("device") },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `SaC: cannot start '${server.command} lsp' (${error.message}). Install it with: pip install 'sacpy[lsp]', or set sacpy.command.`
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function run() {
  const document = vscode.window.activeTextEditor && vscode.window.activeTextEditor.document;
  if (!document || document.languageId !== "sac" || !(await document.save())) {
    return;
  }
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Workspace,
    "run",
    "sacpy",
    new vscode.ProcessExecution(settings().get("command"), ["run", ...options(), document.uri.fsPath])
  );
  vscode.tasks.executeTask(task);
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("sacpy.restart", restart),
    vscode.commands.registerCommand("sacpy.run", run),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("sacpy")) {
        restart();
      }
    })
  );
  await start();
}

module.exports = { activate, deactivate: stop };
