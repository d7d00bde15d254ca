// Speaks with the server. A request that is refused becomes an Error with the server's own sentence.

const TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

export async function get(path) {
  return (await asked(path)).json();
}

export async function getArrays(path) {
  return unpacked(await (await asked(path)).arrayBuffer());
}

export async function post(path, content) {
  return (await asked(path, posted(content))).json();
}

export async function postForArrays(path, content) {
  return unpacked(await (await asked(path, posted(content))).arrayBuffer());
}

export function socket(path) {
  const made = new WebSocket(new URL(`api/${path}`, location.href).href.replace(/^http/, "ws"));
  made.binaryType = "arraybuffer";
  return made;
}

function posted(content) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("The explorer does not answer. Is `vmg explore` still running?");
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  throw new Error(said?.error ?? `The explorer answered with ${answer.status}.`);
}

/** Facts as JSON, then arrays one after the other: the arrays are views into the answer, nothing is copied. */
function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let offset = 4 + length;
  for (const { name, type, length: count } of facts.arrays) {
    arrays[name] = new TYPES[type](buffer, offset, count);
    offset += Math.ceil(arrays[name].byteLength / 4) * 4;
  }
  return { ...facts, arrays };
}
