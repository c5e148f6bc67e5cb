/* A file that is chosen fills the text beside it, so that it is sent as any other field. */
"use strict";

document.addEventListener("change", async (event) => {
  const filled = event.target.dataset && event.target.dataset.fills;
  const file = filled && event.target.files && event.target.files[0];
  if (file) document.getElementById(filled).value = await file.text();
});

/* "Saved" goes once something is typed. */
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

/* A template that is chosen fills the prompt; what somebody has typed there goes only if they say so. */
document.addEventListener("change", (event) => {
  const templates = event.target.closest("select[data-templates]");
  const text = templates && templates.selectedOptions[0].dataset.text;
  if (!text) return;
  const prompt = document.getElementById(templates.dataset.templates);
  const isOurs = [...templates.options].some((each) => each.dataset.text === prompt.value);
  if (prompt.value.trim() && !isOurs && !confirm(gettext("Replace the current instructions?"))) {
    templates.value = "";
    return;
  }
  prompt.value = text;
  prompt.dispatchEvent(new Event("input", { bubbles: true }));
});

/* Leaving asks where something is typed and not saved; what leads on after saving doesn't. */
(() => {
  let isDone = false;
  const isTyped = (form) => [...form.elements].some((each) => (each.matches("select:not([data-templates])")
    ? [...each.options].some((option) => option.selected !== option.defaultSelected)
    : each.matches("input:not([type=hidden]), textarea") && each.value !== each.defaultValue));
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const leads = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
    if (leads && event.detail.elt.closest("[data-guarded], dialog")) isDone = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isDone && [...document.querySelectorAll("[data-guarded]")].some(isTyped)) event.preventDefault();
  });
})();

/* Beside an agent's form as in a conversation: Enter sends, and what was taken makes room. */
document.addEventListener("keydown", (event) => {
  const isBreak = event.shiftKey || event.altKey || event.isComposing || event.defaultPrevented;
  if (event.key !== "Enter" || isBreak || !event.target.matches("[data-empties] [data-sends]")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.requestConfig.elt;
  if (event.detail.successful && form.matches("[data-empties]")) form.reset();
});

/* What could not be sent beside an answer that was written can be sent now. */
document.addEventListener("htmx:oobAfterSwap", () => {
  if (document.querySelector("#stop form")) return;
  for (const each of document.querySelectorAll("form:has([data-sends]) [data-problems]")) each.replaceChildren();
});

/* A question comes back into the field, to be changed and asked again. */
(() => {
  const prepare = () => {
    for (const each of document.querySelectorAll("[data-edits][hidden]")) each.hidden = false;
  };
  document.addEventListener("htmx:oobAfterSwap", prepare);
  document.addEventListener("htmx:afterSwap", prepare);
  prepare();
  document.addEventListener("click", (event) => {
    const edits = event.target.closest("[data-edits]");
    if (!edits) return;
    const field = document.querySelector("[data-sends]");
    field.value = edits.dataset.edits;
    field.focus();
  });
})();
