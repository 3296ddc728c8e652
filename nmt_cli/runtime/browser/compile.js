// Compiles the Python of archives beside Pyodide's files, by the Python that a page runs: node -e THIS ARCHIVE...
// To compile it is half of a page's start in a browser.
"use strict";

const {readFileSync, writeFileSync} = require("fs");
const {resolve} = require("path");

// An unchecked hash (PEP 552) makes a .pyc file stand for itself, without its source.
const COMPILE = `
import importlib.util
import marshal
from zipfile import ZIP_DEFLATED, ZipFile

with ZipFile("/archive") as read, ZipFile("/compiled", "w", ZIP_DEFLATED) as written:
    for name in read.namelist():
        content = read.read(name)
        if name.endswith(".py"):
            code = marshal.dumps(compile(content, name, "exec", dont_inherit=True))
            name, content = name + "c", importlib.util.MAGIC_NUMBER + b"\\1" + bytes(11) + code
        written.writestr(name, content)
`;

(async () => {
  const {loadPyodide} = require(resolve("pyodide.js"));
  const python = await loadPyodide({indexURL: resolve()});
  for (const archive of process.argv.slice(1)) {
    python.FS.writeFile("/archive", readFileSync(archive));
    python.runPython(COMPILE);
    writeFileSync(archive, python.FS.readFile("/compiled"));
  }
})();
