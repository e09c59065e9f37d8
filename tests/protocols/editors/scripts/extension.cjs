// Drives the built extension with a stub of the module `vscode` against the real server.
// argv: the built extension, the file to open, then the command that is `tw`. Prints what was seen.
const fs = require("fs");
const Module = require("module");
const { pathToFileURL, fileURLToPath } = require("url");

const [bundle, file, ...command] = process.argv.slice(2);
const seen = { diagnostics: [], commands: [], errors: [], tasks: [], saved: 0 };
const providers = {};
const registered = {};

class Disposable {
  constructor(end = () => {}) { this.dispose = end; }
}
class Uri {
  constructor(text) { this.text = text; }
  static parse(text) { return new Uri(text); }
  static file(name) { return new Uri(pathToFileURL(name).href); }
  get scheme() { return this.text.split(":")[0]; }
  get path() { return new URL(this.text).pathname; }
  get fsPath() { return fileURLToPath(this.text); }
  toString() { return this.text; }
}
class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
}
class Range {
  constructor(start, end, line, unit) {
    const numbers = typeof start === "number";
    this.start = numbers ? new Position(start, end) : start;
    this.end = numbers ? new Position(line, unit) : end;
  }
}
class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (one, self) => {
      const listener = self ? one.bind(self) : one;
      this.listeners.push(listener);
      return new Disposable(() => this.listeners.splice(this.listeners.indexOf(listener), 1));
    };
  }
  fire(value) { [...this.listeners].forEach((one) => one(value)); }
  dispose() {}
}
class CancellationTokenSource {
  constructor() {
    const emitter = new EventEmitter();
    this.token = { isCancellationRequested: false, onCancellationRequested: emitter.event };
  }
  cancel() {}
  dispose() {}
}
class WorkspaceEdit {
  constructor() { this.edits = []; }
  replace(uri, range, text) { this.edits.push([uri.fsPath, range.start.line, text]); }
}
class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}
class TextEdit {
  constructor(range, newText) { Object.assign(this, { range, newText }); }
}
class MarkdownString {
  constructor(value) { this.value = value; }
}
class Hover {
  constructor(contents) { this.contents = contents; }
}
class CodeActionKind {
  constructor(value) { this.value = value; }
  append(part) { return new CodeActionKind(this.value ? `${this.value}.${part}` : part); }
}
CodeActionKind.Empty = new CodeActionKind("");
class Task {
  constructor(definition, scope, name, source, execution) {
    Object.assign(this, { definition, scope, name, source, execution });
  }
}
class ProcessExecution {
  constructor(process, args) { Object.assign(this, { process, args }); }
}

const text = fs.readFileSync(file, "utf8");
const document = {
  uri: Uri.file(file), fileName: file, languageId: "tw", version: 1, isDirty: true, isClosed: false,
  getText: () => text,
  save: async () => { seen.saved += 1; return true; },
};
const never = () => new Disposable();

/** Members that nobody has asked for yet: events and `register…` do nothing, classes are empty. */
function open(known) {
  return new Proxy(known, {
    get(target, name) {
      if (name in target || typeof name === "symbol") return target[name];
      if (/^register.*Provider$/.test(name)) {
        return (selector, provider) => { providers[name] = provider; return new Disposable(); };
      }
      if (/^(onDid|onWill|register|create)/.test(name)) return never;
      if (/^[A-Z]/.test(name)) target[name] = class {};
      return target[name];
    },
  });
}

const settings = { command, planSeconds: 0 };
const vscode = open({
  Disposable, Uri, Position, Range, EventEmitter, CancellationTokenSource, WorkspaceEdit, Diagnostic,
  TextEdit, MarkdownString, Hover, CodeActionKind, Task, ProcessExecution,
  version: "1.99.0",
  env: { appName: "stub", language: "en", uriScheme: "vscode" },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  TaskScope: { Workspace: 2 },
  workspace: open({
    textDocuments: [document], notebookDocuments: [],
    workspaceFolders: [{ uri: Uri.file(require("path").dirname(file)), name: "x", index: 0 }],
    getConfiguration: () => ({ get: (name, other) => settings[name] ?? other }),
    createFileSystemWatcher: () =>
      ({ onDidCreate: never, onDidChange: never, onDidDelete: never, dispose() {} }),
  }),
  window: open({
    visibleTextEditors: [{ document }], activeTextEditor: { document }, visibleNotebookEditors: [],
    tabGroups: { all: [], onDidChangeTabs: never, onDidChangeTabGroups: never },
    createOutputChannel: () =>
      ({ append() {}, appendLine() {}, show() {}, dispose() {}, error() {}, info() {} }),
    showErrorMessage: async (message) => { seen.errors.push(message); },
    showInformationMessage: async () => {},
  }),
  languages: open({
    match: () => 10,
    createDiagnosticCollection: () => ({
      set: (uri, found) => {
        seen.diagnostics.push(found.map((one) => [one.code?.value ?? one.code, one.message]));
      },
      delete() {}, clear() {}, dispose() {},
    }),
  }),
  commands: open({
    registerCommand: (name, work) => {
      if (registered[name]) throw new Error(`command ${name} is already registered`);
      registered[name] = work;
      seen.commands.push(name);
      return new Disposable();
    },
    executeCommand: async (name, ...given) => registered[name](...given),
  }),
  tasks: open({
    executeTask: async (task) => { seen.tasks.push([task.execution.process, task.execution.args]); },
  }),
});

const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...more) => (name === "vscode" ? "vscode" : resolve(name, ...more));
require.cache.vscode = { id: "vscode", filename: "vscode", loaded: true, exports: vscode };

async function until(ready) {
  for (let tries = 0; tries < 600 && !ready(); tries += 1) {
    await new Promise((done) => setTimeout(done, 100));
  }
  if (!ready()) throw new Error(`nothing came: ${JSON.stringify(seen)}`);
}

async function main() {
  const extension = require(bundle);
  await extension.activate({ subscriptions: [] });
  if (!seen.errors.length) {
    await until(() => seen.diagnostics.length > 0);
    const token = new CancellationTokenSource().token;
    const at = text.split("\n").findIndex((line) => line.startsWith("world "));
    const place = new Position(at, 7);
    const hover = await providers.registerHoverProvider.provideHover(document, place, token);
    seen.hover = hover.contents.value;
    const renamed = providers.registerRenameProvider;
    seen.renamed = (await renamed.provideRenameEdits(document, place, "other", token)).edits;
    const lenses = await providers.registerCodeLensProvider.provideCodeLenses(document, token);
    seen.lenses = lenses.map((one) => one.command.title);
    for (const lens of lenses) {
      await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
    }
  }
  await extension.deactivate();
  process.stdout.write(JSON.stringify(seen));
  process.exit(0);
}

main().catch((error) => { console.error(error); process.exit(1); });
