// The interpreter: Python, NumPy and sacpy, away from the page, which stays responsive and can end this worker.
//
// In: {type: "begin", interrupt: a shared byte array or null}, {type: "run", text, stdin, columns}, {type: "check", text}.
// Out: "ready", "failed", and the events of play.py, each as JSON.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = new URL("./", self.location.href).href;
const post = (event) => self.postMessage(event);

/** An archive of build.py: a line with the names and sizes of files, then their bytes. The browser decompresses it
 *  while it is fetched, several times as fast as Python would. */
async function fetched(name) {
  const answer = await fetch(here + name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  const plain = answer.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

function unpack(archive, target, fs) {
  let at = archive.indexOf(10) + 1;
  for (const [name, size] of JSON.parse(new TextDecoder().decode(archive.subarray(0, at)))) {
    const path = `${target}/${name}`;
    fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    fs.writeFile(path, archive.subarray(at, at + size), { canOwn: true });
    at += size;
  }
}

const packages = fetched("packages.bin");
packages.catch(() => {}); // whoever awaits it says so

async function begin(interrupt) {
  const python = await loadPyodide({
    indexURL: here + "pyodide/",
    stdLibURL: here + "stdlib.zip",
    stdout: (text) => console.log(text),
    stderr: (text) => console.warn(text),
  });
  const target = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  unpack(await packages, target, python.FS);
  if (interrupt) python.setInterruptBuffer(interrupt);
  python.globals.set("_post", post);
  return python.runPython(`
import importlib, json
importlib.invalidate_caches()
import play

def _send(event):
    _post(json.dumps(event))

def _obey(asked):
    asked = json.loads(asked)
    if asked["type"] == "run":
        play.run(asked["text"], asked["stdin"], _send, asked["columns"])
    else:
        play.check(asked["text"], _send)

_obey
`);
}

let obey;
self.onmessage = async ({ data }) => {
  try {
    if (data.type === "begin") {
      obey = begin(data.interrupt);
      await obey;
      post(JSON.stringify({ type: "ready" }));
    } else (await obey)(JSON.stringify(data));
  } catch (error) {
    post(JSON.stringify({ type: "failed", doing: data.type, message: String(error?.message ?? error) }));
  }
};
