// Runs graphs by ONNX Runtime Web, step by step without a promise: Python cannot wait for one in the middle of a search.
// Its own `InferenceSession.run` is a promise, so this file calls what that calls (lib/wasm/wasm-core-impl.ts of
// onnxruntime-web 1.30), which answers at once where one thread works.
"use strict";

const ALIGNED = 8; // bytes
const SIZES = {1: 4, 6: 4, 7: 8, 9: 1}; // of a value of each type of tensors

async function startGraphs(factory, binary) {
  const ort = await factory({
    numThreads: 1,
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(binary, imports).then(({instance, module}) => done(instance, module));
    },
  });
  const check = (code) => {
    if (code === 0) return;
    const place = ort.stackSave(), facts = ort.stackAlloc(8);
    ort._OrtGetLastError(facts, facts + 4);
    const message = ort.getValue(facts + 4, "*");
    ort.stackRestore(place);
    throw new Error(message ? ort.UTF8ToString(message) : `error ${code} of ONNX Runtime`);
  };
  check(ort._OrtInit(1, 4));
  const graphs = [];

  const write = (text) => {
    const size = ort.lengthBytesUTF8(text) + 1, place = ort._malloc(size);
    ort.stringToUTF8(text, place, size);
    return place;
  };

  function open(model) {
    const options = ort._OrtCreateSessionOptions(0, true, false, 0, false, 0, 0, 4, 0, 0);
    const place = ort._malloc(model.length);
    ort.HEAPU8.set(model, place);
    const session = ort._OrtCreateSession(place, model.length, options);
    if (!session) check(-1);
    ort._free(place);
    ort._OrtReleaseSessionOptions(options);
    graphs.push({session, names: new Map()});
    return graphs.length - 1;
  }

  function findName(graph, name) {
    if (!graph.names.has(name)) graph.names.set(name, write(name));
    return graph.names.get(name);
  }

  // Returns [the types and shapes of the outputs, their bytes]. `content` holds the bytes of all inputs.
  function run(number, described, content, names) {
    const graph = graphs[number], inputs = JSON.parse(described), outputs = JSON.parse(names);
    const place = ort.stackSave(), data = ort._malloc(content.length || 1);
    ort.HEAPU8.set(content, data);
    const pointers = (list) => {
      const start = ort.stackAlloc(4 * list.length);
      list.forEach((value, index) => ort.setValue(start + 4 * index, value, "*"));
      return start;
    };
    const tensors = [];
    let position = data, outputTensors = [];
    try {
      for (const [, code, shape] of inputs) {
        const size = shape.reduce((product, length) => product * length, SIZES[code]);
        tensors.push(ort._OrtCreateTensor(code, position, size, pointers(shape), shape.length, 1));
        position += size + (ALIGNED - size % ALIGNED) % ALIGNED;
      }
      const room = pointers(outputs.map(() => 0));
      check(ort._OrtRun(graph.session, pointers(inputs.map(([name]) => findName(graph, name))), pointers(tensors),
        inputs.length, pointers(outputs.map((name) => findName(graph, name))), outputs.length, room, 0));
      outputTensors = outputs.map((_, index) => ort.getValue(room + 4 * index, "*"));
      return read(outputTensors);
    } finally {
      [...tensors, ...outputTensors].forEach((tensor) => ort._OrtReleaseTensor(tensor));
      ort._free(data);
      ort.stackRestore(place);
    }
  }

  function read(tensors) {
    const parts = tensors.map((tensor) => {
      const facts = ort.stackAlloc(16);
      check(ort._OrtGetTensorData(tensor, facts, facts + 4, facts + 8, facts + 12));
      const [code, start, shapeStart, rank] = [0, 4, 8, 12].map((offset) => ort.getValue(facts + offset, "*"));
      const shape = Array.from({length: rank}, (_, index) => ort.getValue(shapeStart + 4 * index, "i32"));
      ort._OrtFree(shapeStart);
      const size = shape.reduce((product, length) => product * length, SIZES[code]);
      return {code, start, shape, size};
    });
    const total = parts.reduce((sum, {size}) => sum + size + (ALIGNED - size % ALIGNED) % ALIGNED, 0);
    const bytes = new Uint8Array(total);
    let position = 0;
    for (const {start, size} of parts) {
      bytes.set(ort.HEAPU8.subarray(start, start + size), position);
      position += size + (ALIGNED - size % ALIGNED) % ALIGNED;
    }
    return [JSON.stringify(parts.map(({code, shape}) => [code, shape])), bytes];
  }
  return {open, run};
}
