// The extension: it starts `tw lsp` as the language server, and runs `tw` in a terminal for lenses.
"use strict";

const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LENSES = {
  plan: (file, world) => ["plan", `${file}:${world}`],
  test: (file) => ["test", file],
  play: (file, world) => ["play", `${file}:${world}`],
};

let client;

/** The program `tw` and its first arguments, from the settings. */
function program() {
  const [command, ...first] = vscode.workspace.getConfiguration("tw").get("command", ["tw"]);
  return { command, first };
}

/** Start the language server; what is missing is told with the next step. */
async function start() {
  const { command, first } = program();
  client = new LanguageClient(
    "tw",
    "Token World",
    { command, args: [...first, "lsp"] },
    {
      documentSelector: [{ language: "tw" }],
      initializationOptions: {
        terminal: true,
        planSeconds: vscode.workspace.getConfiguration("tw").get("planSeconds", 5),
      },
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{tw,json,jsonl}"),
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `\`${command} lsp\` cannot be started (${error.message}). Install it with ` +
        "`pip install 'token-world[lsp]'`, or name it in the setting `tw.command`.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** Run a verb on a saved file, in the terminal of a task: no shell reads the names. */
async function run(verb, file, world) {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.fsPath === file);
  if (open?.isDirty && !(await open.save())) {
    return;
  }
  const { command, first } = program();
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Workspace,
    `tw ${verb} ${path.basename(file)}`,
    "tw",
    new vscode.ProcessExecution(command, [...first, ...LENSES[verb](file, world)]),
  );
  await vscode.tasks.executeTask(task);
}

async function activate(context) {
  for (const verb of Object.keys(LENSES)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(`tw.terminal.${verb}`, (file, world) =>
        run(verb, file, world),
      ),
    );
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("tw.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
