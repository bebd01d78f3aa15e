// The Tile IR extension: starts the language server, and gives its commands a place in the editor.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SHOWN = "tileir-stage";
let client;

function command() {
  return vscode.workspace.getConfiguration("tileir").get("command");
}

async function start() {
  const [program, ...first] = command();
  client = new LanguageClient(
    "tileir",
    "Tile IR",
    { command: program, args: [...first, "lsp", "--stdio"] },
    { documentSelector: [{ language: "tileir" }] },
  );
  await client.start();
}

async function restart() {
  await client?.stop();
  await start();
}

// A terminal with the command line written but not sent: the arguments are the user's to fill in.
async function run(uri, kernel) {
  const info = await client.sendRequest("workspace/executeCommand", { command: "tileir.launch", arguments: [uri, kernel] });
  const terminal = vscode.window.terminals.find((one) => one.name === "tileir") ?? vscode.window.createTerminal("tileir");
  terminal.show();
  const quoted = info.words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  terminal.sendText([...command(), ...quoted].join(" "), false);
}

async function show(texts, uri, stage, line) {
  const editor = vscode.window.activeTextEditor;
  uri ??= editor?.document.uri.toString();
  line ??= editor?.selection.active.line ?? 0;
  stage ??= await vscode.window.showQuickPick(["llvm", "asm", "ttir", "ptx"]);
  if (!uri || !stage) return;
  const made = await client.sendRequest("workspace/executeCommand", { command: "tileir.stage", arguments: [uri, stage, line] });
  if (made.error) {
    vscode.window.showErrorMessage(made.error);
    return;
  }
  const place = vscode.Uri.parse(`${SHOWN}:${stage}/${texts.size}.${stage}`);
  texts.set(place.toString(), made.text);
  const document = await vscode.workspace.openTextDocument(place);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

// The editor sends the launch configuration itself.
function adapter() {
  const [name, ...first] = command();
  return new vscode.DebugAdapterExecutable(name, [...first, "debug", "--dap"]);
}

exports.activate = async (context) => {
  const texts = new Map();
  const provider = { provideTextDocumentContent: (uri) => texts.get(uri.toString()) };
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SHOWN, provider),
    vscode.commands.registerCommand("tileir.run", run),
    vscode.commands.registerCommand("tileir.show", (...given) => show(texts, ...given)),
    vscode.commands.registerCommand("tileir.restart", restart),
    vscode.debug.registerDebugAdapterDescriptorFactory("tileir", { createDebugAdapterDescriptor: adapter }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
