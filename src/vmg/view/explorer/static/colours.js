// Colours: a map with even steps to the eye, in the same order for colour-blind eyes and in grey; the rest from the style sheet.

const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"].map(parsed);
const DARK = window.matchMedia("(prefers-color-scheme: dark)");

/** Call when light turns dark, or dark light. */
export function onTheme(change) {
  DARK.addEventListener("change", change);
}

/** The colour of a number from 0 to 1, cut where it would vanish into the paper. */
export function shade(t) {
  const [low, high] = DARK.matches ? [0.16, 1] : [0, 0.94];
  const at = (low + (high - low) * Math.min(1, Math.max(0, t))) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return VIRIDIS[i].map((part, k) => Math.round(part + (VIRIDIS[i + 1][k] - part) * (at - i)));
}

/** A colour named in the style sheet, as red, green and blue from 0 to 255. */
export function named(name) {
  return parsed(getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim().slice(1));
}

export function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** What the renderer's table of colours holds. */
export function table() {
  const bytes = new Uint8Array(256 * 2 * 4);
  for (let i = 0; i < 256; i++) bytes.set([...shade(i / 255), 255], 4 * i);
  ["unknown", "goal", "reward", "forbidden"].forEach((name, i) => bytes.set([...named(name), 255], 4 * (256 + i)));
  return bytes;
}

export function gradient() {
  const stops = Array.from({ length: 11 }, (_, i) => css(shade(i / 10)));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

function parsed(digits) {
  return [0, 2, 4].map((i) => parseInt(digits.slice(i, i + 2), 16));
}
