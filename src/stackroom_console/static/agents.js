/* A file that is chosen fills the text beside it, so that it is sent as any other field. */
"use strict";

document.addEventListener("change", async (event) => {
  const filled = event.target.dataset && event.target.dataset.fills;
  const file = filled && event.target.files && event.target.files[0];
  if (file) document.getElementById(filled).value = await file.text();
});

/* "Saved" is said of what was typed before. */
document.addEventListener("input", () => {
  for (const each of document.querySelectorAll("[data-until-typed]")) each.remove();
});

/* What somebody opened stays open when the part of the page comes anew. */
const opened = new Set();
document.addEventListener("toggle", (event) => {
  const key = event.target.dataset && event.target.dataset.keepsOpen;
  if (key && event.target.isConnected) opened[event.target.open ? "add" : "delete"](key);
}, true);
document.addEventListener("htmx:oobAfterSwap", () => {
  for (const each of document.querySelectorAll("details[data-keeps-open]")) {
    if (opened.has(each.dataset.keepsOpen)) each.open = true;
  }
});
