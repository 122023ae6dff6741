// Runs texts in the playground's Python, without a browser.
//
// usage: node interpreter.mjs PLAYGROUND_FOLDER INPUT OUTPUT
//
// INPUT: a JSON array of [text, stdin]. OUTPUT: a JSON array with the events of each.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [folder, input, output] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/pyodide`, stdLibURL: `${folder}/stdlib.zip` });
const target = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
const archive = gunzipSync(readFileSync(`${folder}/packages.bin`));
let at = archive.indexOf(10) + 1;
for (const [name, size] of JSON.parse(archive.subarray(0, at).toString())) {
  const path = `${target}/${name}`;
  python.FS.mkdirTree(dirname(path));
  python.FS.writeFile(path, new Uint8Array(archive.subarray(at, at + size)));
  at += size;
}
python.globals.set("_input", readFileSync(input, "utf8"));
writeFileSync(output, python.runPython(`
import importlib, json
importlib.invalidate_caches()
import play

_done = []
for _text, _stdin in json.loads(_input):
    _events = []
    try:
        play.run(_text, _stdin, _events.append)
    except BaseException as error:
        _events.append({"type": "failed", "message": f"{type(error).__name__}: {error}"})
    _done.append(_events)
json.dumps(_done)
`));
