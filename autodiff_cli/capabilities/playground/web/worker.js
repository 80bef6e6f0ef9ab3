// Python in a thread of its own: the page stays quick, and can end what takes too long.
let prompt = null;

const START = `
import sys
sys.path.insert(0, "/lib/autodiff")
from autodiff_cli.capabilities.playground.prompt import Prompt
Prompt("/work")
`;

async function load({ pyodide: place, archive }) {
  const base = new URL(".", self.location.href);
  const address = new URL(place, base).href;
  let loadPyodide;
  try {
    ({ loadPyodide } = await import(`${address}pyodide.mjs`));
  } catch {
    throw new Error(`Pyodide is not at ${address}: put the files of one of its releases there, or make the page with --pyodide and their address.`);
  }
  const [python, program] = await Promise.all([
    loadPyodide({ indexURL: address, env: { HOME: "/work", LANG: "C.UTF-8", TZ: "UTC" } }),
    fetch(new URL(archive, base)).then((answer) => {
      if (!answer.ok) throw new Error(`${archive} is not beside this page.`);
      return answer.arrayBuffer();
    }),
  ]);
  python.unpackArchive(program, "zip", { extractDir: "/lib/autodiff" });
  prompt = python.runPython(START);
  return python;
}

function plain(proxy) {
  const object = proxy.toJs({ dict_converter: Object.fromEntries });
  proxy.destroy();
  return object;
}

let python = null;

const ANSWERS = {
  load: async (settings) => { python = await load(settings); },
  line: ({ line, columns }) => plain(prompt.answer(line, columns)),
  complete: ({ text }) => plain(prompt.complete(text)),
  add: ({ name, bytes }) => { python.FS.writeFile(`/work/${name}`, new Uint8Array(bytes)); },
  read: ({ name }) => python.FS.readFile(`/work/${name}`),
};

// One after the other, as they come.
let last = Promise.resolve();
addEventListener("message", ({ data: { id, kind, ...told } }) => {
  last = last.then(async () => {
    try {
      postMessage({ id, answer: await ANSWERS[kind](told) });
    } catch (fault) {
      postMessage({ id, fault: fault instanceof Error ? fault.message : String(fault) });
    }
  });
});
