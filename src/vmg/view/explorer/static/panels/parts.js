// Parts that several panels are made of.

import { make, number } from "../dom.js";

/** A table; a row may be chosen. Cells are texts, numbers or elements. */
export function table(header, rows, choose = null) {
  const numeric = header.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === "number" || row[i] === null));
  const text = (content) => (typeof content === "number" || content === null ? number(content) : content);
  const cell = (tag, content, i) => make(numeric[i] ? `${tag}.number` : tag, {}, text(content));
  const body = rows.map((row, r) => {
    const line = make(choose ? "tr.choose" : "tr", {}, row.map((content, i) => cell("td", content, i)));
    if (choose) {
      line.tabIndex = 0;
      line.onclick = () => choose(r, line);
      line.onkeydown = (event) => event.key === "Enter" && choose(r, line);
    }
    return line;
  });
  const head = make("tr", {}, header.map((name, i) => cell("th", name, i)));
  const whole = make("table", {}, make("thead", {}, head), make("tbody", {}, body));
  return make("div.scroll", { tabIndex: choose ? -1 : 0 }, whole);
}

/** Large numbers with what they are. */
export function large(pairs) {
  return make("div.big", {}, pairs.map(([name, value]) => make("div", {}, make("b", {}, number(value)), name)));
}

export function said(text, good = true) {
  return make(good ? "div.said" : "div.said.no", {}, [text].flat().map((sentence) => make("p", {}, sentence)));
}

export function option(value, title) {
  return make("option", { value }, title);
}
