// The grammar colours a program as VS Code would: with its own engine, outside of an editor.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma/package.json")), "release/onig.wasm"));
const file = path.join(__dirname, "syntaxes/tileir.tmLanguage.json");

async function scopes(line) {
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  const grammar = await registry.loadGrammar("source.tileir");
  return Object.fromEntries(
    grammar.tokenizeLine(line, INITIAL).tokens.map((one) => [line.slice(one.startIndex, one.endIndex), one.scopes.at(-1)]),
  );
}

(async () => {
  const found = await scopes('%sum = addf %a, %b rounding<zero> : tile<4x8xf32> // "why" @f');
  assert.equal(found["%sum"], "variable.other.tileir");
  assert.equal(found.addf, "support.function.tileir");
  assert.equal(found.tile, "storage.type.tileir");
  assert.equal(found["4x8x"], "constant.numeric.tileir");
  assert.equal(found.f32, "support.type.tileir");
  assert.equal(found['// "why" @f'], "comment.line.double-slash.tileir");
  console.log("6 passed, 0 failed");
})();
