/* A conversation: the newest in view, and Enter sends. */
"use strict";

(() => {
  const near = 120;  // pixels above the end that still count as being there
  const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - near;
  const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight });

  /* Whoever came for one passage, or comes back to where they were, stays there. */
  const [arrival] = performance.getEntriesByType("navigation");
  const isBack = arrival && arrival.type !== "navigate";
  const leadsElsewhere = location.hash.length > 1 && location.hash !== "#newest";
  if (document.querySelector("[data-run]") && !leadsElsewhere && !isBack) {
    toEnd();
    addEventListener("load", toEnd, { once: true });
  }

  /* What grows pushes up what was read, unless somebody has gone up to read it. */
  let follows = true;
  document.addEventListener("htmx:beforeSwap", () => { follows = isAtEnd(); });
  document.addEventListener("htmx:afterSettle", () => { if (follows) toEnd(); });

  const composer = document.getElementById("composer");
  if (!composer) return;
  composer.addEventListener("keydown", (event) => {
    const isBreak = event.shiftKey || event.altKey || event.isComposing;
    if (event.key !== "Enter" || isBreak || !event.target.matches("[data-sends]")) return;
    event.preventDefault();
    composer.requestSubmit();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig.elt !== composer || !event.detail.successful) return;
    if (event.detail.xhr.getResponseHeader("HX-Redirect") !== null) return;
    composer.elements.message.value = "";  // and what is chosen to be searched stays
    toEnd();
  });
})();
