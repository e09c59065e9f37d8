// Colours texts by a TextMate grammar: for each line of each text, [start, end, scopes] of its tokens.
const fs = require("fs");
const path = require("path");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

async function main() {
  const given = JSON.parse(fs.readFileSync(0, "utf8"));
  const wasm = path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () =>
      textmate.parseRawGrammar(fs.readFileSync(given.grammar, "utf8"), given.grammar),
  });
  const grammar = await registry.loadGrammar("source.tw");
  const answers = given.texts.map((text) => {
    let state = textmate.INITIAL;
    return text.split(/\r\n|\r|\n/).map((line) => {
      const found = grammar.tokenizeLine(line, state);
      state = found.ruleStack;
      return found.tokens.map((one) => [one.startIndex, one.endIndex, one.scopes]);
    });
  });
  process.stdout.write(JSON.stringify(answers));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
