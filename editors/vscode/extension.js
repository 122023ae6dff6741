// Starts `sacpy lsp` for SaC files, runs programs in a terminal, and debugs them with `sacpy dap`.
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
    middleware: {
      executeCommand: (command, args, next) => (command in clicked ? clicked[command](...args) : next(command, args)),
    },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `SaC: cannot start '${server.command} lsp' (${error.message}). Install it with: pip install 'sac-lang[lsp]', or set sacpy.command.`
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

// What stands above functions: the server would do it too, but a terminal shows more.
const clicked = {
  "sacpy.server.run": (uri) => inTerminal("run", uri, [], ""),
  "sacpy.server.test": (uri, name) => inTerminal("test", uri, [], name ? `::${name}` : ""),
  "sacpy.server.explain": (uri, name) => inTerminal("explain", uri, name ? ["--function", name] : [], ""),
};

async function inTerminal(word, uri, before, behind) {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  if (!(await document.save())) {
    return;
  }
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Workspace,
    word,
    "sacpy",
    new vscode.ProcessExecution(settings().get("command"), [
      word, ...options(), ...before, document.uri.fsPath + behind,
    ])
  );
  vscode.tasks.executeTask(task);
}

async function run() {
  const document = vscode.window.activeTextEditor && vscode.window.activeTextEditor.document;
  if (document && document.languageId === "sac") {
    await clicked["sacpy.server.run"](document.uri.toString());
  }
}

// Debugging: `sacpy dap` is the adapter; without a launch configuration the file that is looked at is run.
const debugging = {
  createDebugAdapterDescriptor() {
    return new vscode.DebugAdapterExecutable(settings().get("command"), ["dap", ...options()]);
  },
  resolveDebugConfiguration(folder, configuration) {
    const document = vscode.window.activeTextEditor && vscode.window.activeTextEditor.document;
    if (!configuration.type && document && document.languageId === "sac") {
      return { type: "sac", request: "launch", name: "Debug this program", program: document.uri.fsPath };
    }
    return configuration;
  },
};

async function debug() {
  const document = vscode.window.activeTextEditor && vscode.window.activeTextEditor.document;
  if (document && document.languageId === "sac" && (await document.save())) {
    await vscode.debug.startDebugging(undefined, debugging.resolveDebugConfiguration(undefined, {}));
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("sacpy.debug", debug),
    vscode.debug.registerDebugAdapterDescriptorFactory("sac", debugging),
    vscode.debug.registerDebugConfigurationProvider("sac", debugging),
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
