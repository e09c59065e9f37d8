// Runs Python beside the page, so that the page never freezes. The first message has all parts.
// No part is fetched: a request of Pyodide is answered from memory.
"use strict";
const kinds = { "pyodide.asm.wasm": "application/wasm", "python_stdlib.zip": "application/zip" };
let ask = null;

async function begin({ parts, bundle }) {
  self.fetch = async (url) => {
    const name = String(url).split("/").pop();
    if (!(name in kinds)) throw new TypeError(`${name} is not part of this page`);
    return new Response(parts[name], { headers: { "Content-Type": kinds[name] } });
  };
  for (const name of ["pyodide.asm.js", "pyodide.js"])
    importScripts(URL.createObjectURL(new Blob([parts[name]], { type: "text/javascript" })));
  const pyodide = await loadPyodide({
    indexURL: "blob:memory/",
    lockFileContents: new TextDecoder().decode(parts["pyodide-lock.json"]),
    stdout: () => {}, stderr: (line) => console.warn(line),
  });
  pyodide.unpackArchive(parts["tokenworld.zip"], "zip", { extractDir: "/lib/tokenworld" });
  pyodide.globals.set("bundle", bundle);
  ask = pyodide.runPython(`
import sys
sys.path.insert(0, "/lib/tokenworld")
from tokenworld.play.publish.browser import Published
Published(bundle).ask
`);
}

self.onmessage = async ({ data }) => {
  try {
    if (data.parts) await begin(data);
    self.postMessage({ id: data.id, reply: JSON.parse(ask(JSON.stringify(data.request))) });
  } catch (error) {
    self.postMessage({ id: data.id, failed: String(error) });
  }
};
