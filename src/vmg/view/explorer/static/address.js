// The address bar holds the view: what is after # reproduces it.

/** Read a view from the address; what it does not say is missing. */
export function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  const view = Object.fromEntries(found);
  for (const name of ["graph", "vertex", "seed"]) if (name in view) view[name] = Number(view[name]);
  if (view.camera) view.camera = view.camera.split(",").map(Number);
  for (const name of ["want", "ask", "replay", "other"]) if (view[name]) view[name] = parsed(view[name]);
  return view;
}

/** Write a view to the address; what is null, or as when nothing was done, is left out. */
export function writeAddress(view) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(view)) {
    if (value === null || value === undefined) continue;
    if (name === "camera") said.set(name, value.map((x) => Number(x.toPrecision(6))).join(","));
    else said.set(name, typeof value === "object" ? written(value) : value);
  }
  const text = said.toString();
  history.replaceState(null, "", `${location.pathname}${location.search}${text ? `#${text}` : ""}`);
}

/** JSON in which a list of many whole numbers is a text of ranges: "~1-4.9" is [1, 2, 3, 4, 9]. */
function written(content) {
  return JSON.stringify(content, (_, value) => (isLong(value) ? `~${ranges(value)}` : value));
}

function parsed(text) {
  try {
    return JSON.parse(text, (_, value) => (typeof value === "string" && value.startsWith("~") ? numbers(value.slice(1)) : value));
  } catch {
    return null;
  }
}

function isLong(value) {
  return Array.isArray(value) && value.length > 3 && value.every(Number.isInteger);
}

function ranges(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0, j = 0; i < sorted.length; i = j + 1) {
    for (j = i; sorted[j + 1] === sorted[j] + 1; j++);
    parts.push(i === j ? sorted[i] : `${sorted[i]}-${sorted[j]}`);
  }
  return parts.join(".");
}

function numbers(text) {
  return text.split(".").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
