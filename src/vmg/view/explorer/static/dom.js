// Makes elements.

/** make("button.main", {onclick}, "Play"): a tag with classes, properties (aria and data by their attribute), children. */
export function make(what, properties = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button"; // "submit" is the exception, and says so
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function byId(name) {
  return document.getElementById(name);
}

/** A number as people write it. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return size >= 0.001 || size === 0 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

/** "1 step", "2 steps". */
export function counted(count, noun, several = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : several}`;
}
