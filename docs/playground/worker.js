// The playground's worker: Python in the browser, which answers the page as the server of `tileir serve` does.
//
// Python is Pyodide, of the address below unless the worker's own address names another folder (`?pyodide=`); tileir
// is the archive beside this file. What needs no NumPy is answered before that is here.
const { searchParams } = new URL(self.location);
const PYODIDE = new URL(searchParams.get("pyodide") ?? "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/", self.location).href;
const PACKAGES = ["numpy", "ml-dtypes"];
const WITHOUT_NUMPY = new Set(["check", "format", "explain", "Tile IR", "bytecode"]);
const lastWords = (error) => String(error).trim().split("\n").findLast((line) => /^\w*(Error|Exception)\b/.test(line)) ?? String(error).split("\n")[0];
const say = (loading) => postMessage({ loading });

async function begin() {
  say("loading Python");
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: PYODIDE });
  const archive = await fetch(new URL("tileir.zip", self.location));
  if (!archive.ok) throw new Error(`tileir.zip: status ${archive.status}`);
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: "/tileir" });
  python.runPython("import sys; sys.path.insert(0, '/tileir')");
  return { python, reply: python.pyimport("tileir.tools.serve.worker").reply };
}

async function addPackages({ python }) {
  say("loading NumPy");
  try {
    await python.loadPackage(PACKAGES, { messageCallback: () => {} });
    python.runPython("import ml_dtypes, numpy");
    return "";
  } catch (error) {
    return `NumPy could not be loaded from ${PYODIDE}: ${lastWords(error)}`;
  } finally {
    say("");
  }
}

const begun = begin();
const lacking = begun.then(addPackages);

async function answer(request) {
  const { reply } = await begun;
  const error = WITHOUT_NUMPY.has(request.pane) ? "" : await lacking;
  return error ? { error } : JSON.parse(reply(JSON.stringify(request)));
}

onmessage = async ({ data: { id, request } }) => {
  try {
    postMessage({ id, answer: await answer(request) });
  } catch (error) {
    postMessage({ id, answer: { error: lastWords(error) } });
  }
};
begun.catch((error) => say(`Python could not be loaded from ${PYODIDE}: ${error.message}`));
