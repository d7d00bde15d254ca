// Starts the page.

import { App } from "./app.js";
import { byId, make } from "./dom.js";

const app = new App();
window.explorer = app; // for a look from the browser's console
app.start().catch((error) => {
  byId("loading").replaceChildren(make("p", {}, error.message));
});
