// Search by vertex, episode or field.

import { get } from "./api.js";
import { byId } from "./dom.js";

export function listenToSearch(app) {
  const field = byId("search-text");
  const example = (facts) => Object.entries(facts.fields)[0];
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search(app, field.value.trim());
  });
  field.addEventListener("input", () => {
    if (!field.value) app.pane.show({ found: [] });
  });
  field.addEventListener("focus", () => {
    const [name, columns] = example(app.facts) ?? ["0", [0]];
    field.placeholder = `12, episode 3, ${name}=${columns.map(() => "1").join(",")}`;
  });
}

async function search(app, text) {
  if (!text) return app.pane.show({ found: [] });
  return app.attempt(async () => {
    const { vertices, said } = await get(`graphs/${app.facts.id}/search?text=${encodeURIComponent(text)}`);
    app.pane.show({ found: vertices });
    app.stage.say(said);
    const episode = /^episode (\d+)$/i.exec(text);
    if (episode) await app.panels.replay.open("recorded", Number(episode[1]));
    if (/^\d+$/.test(text) && vertices.length) {
      app.pane.flyTo(vertices[0]);
      await app.choose(vertices[0]);
    }
  });
}
