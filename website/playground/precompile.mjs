// Compiles Python modules with the Python that will run them, so that no visitor waits for its compiler.
//
// usage: node precompile.mjs PYODIDE_FOLDER FOLDER STDLIB_FOLDER
//
// FOLDER: packages; what the caller wants to keep the text of is listed in FOLDER/.sources, a path or folder a line.
// STDLIB_FOLDER: Python's own library. All of it is left without text.

import { pathToFileURL } from "node:url";

const [pyodide, packages, library] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: pyodide });
for (const [place, folder] of [["/packages", packages], ["/library", library]]) {
  python.FS.mkdir(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
}
const failed = python.runPython(`
import os, pathlib, py_compile, sys, warnings

warnings.simplefilter("ignore")
MODE = py_compile.PycInvalidationMode.UNCHECKED_HASH
failed = []

def compiled(root, kept):
    for file in sorted(pathlib.Path(root).rglob("*.py")):
        name = file.relative_to(root).as_posix()
        keep = any(name == k or name.startswith(k + "/") for k in kept)
        shown = str(file) if not root.startswith("/library") else "/lib/" + name
        to = file.parent / "__pycache__" / f"{file.stem}.{sys.implementation.cache_tag}.pyc" if keep else file.with_suffix(".pyc")
        to.parent.mkdir(exist_ok=True)
        try:
            py_compile.compile(str(file), str(to), shown, doraise=True, invalidation_mode=MODE)
        except py_compile.PyCompileError as error:
            failed.append(str(error))
        else:
            if not keep:
                file.unlink()

sources = pathlib.Path("/packages/.sources")
compiled("/packages", sources.read_text().split())
sources.unlink()
compiled("/library", [])
"\\n".join(failed)
`);
if (failed) {
  console.error(failed);
  process.exit(1);
}
