// Turns numbers into shades from 0 to 1.

const HEAVY_TAILED = ["visits", "episodes"];
const DEEPEST = 1e-3; // values fade by a factor per step: below this part of the best one, all look the same
const PLAIN = { logarithmic: false, bend: (x) => x, back: (x) => x };

/** Shades of all vertices, -1 where there is no number; and what the legend says about them. */
export function shadesOf(numbers, count, colour, plan) {
  const shades = new Float32Array(count).fill(-1);
  const known = numbers ? found(numbers, colour, plan) : new Float32Array(0);
  let [least, best, unknown] = [Infinity, -Infinity, count - known.length];
  for (const x of known) {
    if (Number.isNaN(x)) unknown += 1;
    if (x < least) least = x;
    if (x > best) best = x;
  }
  if (unknown === count) return { shades, low: null, high: null, logarithmic: false, unknown };
  const { logarithmic, bend, back } = bending(known, colour, least, best, count - unknown);
  const [low, high] = [bend(least), bend(best)];
  const width = high - low || 1;
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(known[i])) continue;
    const part = (bend(known[i]) - low) / width;
    shades[i] = colour === "steps" ? 1 - part : part;
  }
  return { shades, low: back(low), high: back(high), logarithmic, unknown };
}

/** The numbers, without the values of vertices from which no way leads to the goal. */
function found(numbers, colour, plan) {
  if (colour !== "value" || !plan || plan.kind === "reward") return numbers;
  const { steps } = plan.arrays;
  if (steps.every(Number.isNaN)) return numbers;
  return numbers.map((value, i) => (Number.isNaN(steps[i]) ? NaN : value));
}

/** Visits have a long tail, and values that fade with every step away from a goal do, too: their logarithms are shown. */
function bending(known, colour, least, best, count) {
  if (HEAVY_TAILED.includes(colour)) return { logarithmic: true, bend: Math.log1p, back: Math.expm1 };
  if (colour !== "value" || least < 0 || best <= 0) return PLAIN;
  let large = 0;
  for (const x of known) if (x > best / 4) large += 1;
  if (large > count / 4) return PLAIN;
  return { logarithmic: true, bend: (x) => Math.log(Math.max(x, best * DEEPEST)), back: Math.exp };
}
