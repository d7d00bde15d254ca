// A graph of any size, the same for every renderer: vertices along a spiral, each joined to some that lie ahead.

const asked = new URLSearchParams(location.search);
const [N, M] = [Number(asked.get("vertices")), Number(asked.get("edges"))];
let seed = 1;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 4294967296;
const places = new Float32Array(2 * N);
const shades = new Float32Array(N);
const pairs = new Uint32Array(2 * M);
for (let i = 0; i < N; i++) {
  const turn = (60 * i) / N;
  places[2 * i] = Math.cos(turn) * (1 + i / N) + 0.3 * random();
  places[2 * i + 1] = Math.sin(turn) * (1 + i / N) + 0.3 * random();
  shades[i] = i / N;
}
for (let k = 0; k < M; k++) {
  const tail = Math.floor(random() * N);
  pairs[2 * k] = tail;
  pairs[2 * k + 1] = Math.min(N - 1, tail + 1 + Math.floor((random() * N) / 200));
}
const frame = () => new Promise((done) => requestAnimationFrame(done));
const began = performance.now();

/** Measure: `first` is done when the whole picture is there, `pan(k)` when frame k is. */
async function measure(first, pan) {
  await first();
  window.first = (performance.now() - began) / 1000;
  const start = performance.now();
  let k = 0;
  for (; k < 60 && performance.now() - start < 15000; k++) await pan(k);
  window.fps = (1000 * k) / (performance.now() - start);
}
