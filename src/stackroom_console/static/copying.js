/* An answer, and code in it, is copied by a press, where the browser lets a page do that. */
"use strict";

(() => {
  if (!navigator.clipboard) return;

  /* As it reads, with the numbers of its sources in brackets. */
  const textOf = (prose) => {
    const copy = prose.cloneNode(true);
    for (const each of copy.querySelectorAll("a.cite")) each.replaceWith(`[${each.textContent}]`);
    for (const each of copy.querySelectorAll("button")) each.remove();
    copy.className = "unseen";
    document.body.append(copy);
    const text = copy.innerText;
    copy.remove();
    return text.trim();
  };

  const copy = async (button, text) => {
    await navigator.clipboard.writeText(text);
    const status = document.getElementById("announced");
    button.textContent = status.textContent = gettext("Copied");
    setTimeout(() => { button.textContent = gettext("Copy"); status.textContent = ""; }, 2000);
  };

  const prepare = () => {
    for (const each of document.querySelectorAll("[data-copies-text][hidden]")) each.hidden = false;
    for (const pre of document.querySelectorAll(":is(.answer, .answer-text) pre:not(.code > *)")) {
      const code = document.createElement("div"), button = document.createElement("button");
      code.className = "code";
      button.type = "button";
      button.className = "secondary outline";
      button.textContent = gettext("Copy");
      button.setAttribute("aria-label", gettext("Copy code"));
      pre.replaceWith(code);
      code.append(button, pre);
    }
  };

  document.addEventListener("click", (event) => {
    const answer = event.target.closest("[data-copies-text]");
    if (answer) copy(answer, textOf(document.getElementById(answer.dataset.copiesText)));
    const code = event.target.closest(".code > button");
    if (code) copy(code, code.nextElementSibling.textContent);
  });
  for (const each of ["htmx:afterSwap", "htmx:oobAfterSwap", "htmx:historyRestore"]) {
    document.addEventListener(each, prepare);
  }
  prepare();
})();
