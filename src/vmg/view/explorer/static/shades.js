// Turns numbers into shades from 0 to 1.

const HEAVY_TAILED = ["visits", "episodes"];
const DEEPEST = 1e-3; // values fade by a factor per step: below this part of the best one, all look the same

/** Shades of all vertices, -1 where there is no number; and what the legend says about them. */
export function shadesOf(numbers, count, colour, plan) {
  const shades = new Float32Array(count).fill(-1);
  if (!numbers) return { shades, low: null, high: null, logarithmic: false, unknown: 0 };
  const lost = lostVertices(colour, plan);
  const known = (i) => (lost && Number.isNaN(lost[i]) ? NaN : numbers[i]);
  const { logarithmic, bend, back } = bending(colour, known, count);
  const measure = (i) => bend(known(i));
  let [low, high, unknown] = [Infinity, -Infinity, 0];
  for (let i = 0; i < count; i++) {
    const x = measure(i);
    if (Number.isNaN(x)) unknown += 1;
    else [low, high] = [Math.min(low, x), Math.max(high, x)];
  }
  const width = high - low || 1;
  for (let i = 0; i < count; i++) {
    const x = measure(i);
    if (!Number.isNaN(x)) shades[i] = colour === "steps" ? 1 - (x - low) / width : (x - low) / width;
  }
  return unknown === count ? { shades, low: null, high: null, logarithmic, unknown } : { shades, low: back(low), high: back(high), logarithmic, unknown };
}

/** Visits have a long tail, and values that fade with every step away from a goal do, too: their logarithms are shown. */
function bending(colour, known, count) {
  if (HEAVY_TAILED.includes(colour)) return { logarithmic: true, bend: Math.log1p, back: Math.expm1 };
  const values = colour === "value" ? Array.from({ length: count }, (_, i) => known(i)).filter((x) => !Number.isNaN(x)) : [];
  const best = values.reduce((most, x) => Math.max(most, x), 0);
  const large = values.filter((x) => x > best / 4).length;
  if (best === 0 || large > values.length / 4 || values.some((x) => x < 0)) return { logarithmic: false, bend: (x) => x, back: (x) => x };
  return { logarithmic: true, bend: (x) => Math.log(Math.max(x, best * DEEPEST)), back: Math.exp };
}

/** A value is grey where no way leads to the goal, as steps are. */
function lostVertices(colour, plan) {
  if (colour !== "value" || !plan || plan.kind === "reward") return null;
  return plan.arrays.steps.some((steps) => !Number.isNaN(steps)) ? plan.arrays.steps : null;
}
