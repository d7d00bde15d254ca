// Facts and arrays in one answer.

const TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

/** Facts as JSON, then arrays one after the other: the arrays are views into the answer, nothing is copied. */
export function unpacked(buffer) {
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
