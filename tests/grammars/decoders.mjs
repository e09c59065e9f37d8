// Loads a GBNF grammar in llama.cpp (node-llama-cpp) and in XGrammar (@mlc-ai/web-xgrammar), and asks
// both which texts are of the language. One JSON object {modules, grammar, texts} on stdin; one
// {llama: [bool], xgrammar: [bool]} on stdout.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { modules, grammar, texts } = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(join(modules, "anchor.js"));

async function llama() {
  const { getLlama } = await import(
    pathToFileURL(join(modules, "node-llama-cpp", "dist", "index.js")).href
  );
  const engine = await getLlama({
    gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: "error",
  });
  const loaded = await engine.createGrammar({ grammar });
  return texts.map((text) => loaded._testText(text));
}

async function xgrammar() {
  // The package says that it is a module of ECMAScript, and is one of CommonJS.
  const folder = join(modules, "@mlc-ai", "web-xgrammar", "lib");
  const file = join(folder, "index.js");
  const module = { exports: {} };
  new Function("module", "exports", "require", "__filename", "__dirname", readFileSync(file, "utf8"))(
    module, module.exports, require, file, folder,
  );
  const { Grammar, Testings } = module.exports;
  const loaded = await Grammar.fromEBNF(grammar);
  const found = [];
  for (const text of texts) found.push(await Testings.isGrammarAcceptString(loaded, text));
  return found;
}

const answer = { llama: await llama(), xgrammar: await xgrammar() };
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
