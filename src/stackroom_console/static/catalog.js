/*
 * The list of a catalog's documents: which are chosen and which folders are closed, which the list's
 * coming anew doesn't undo.
 */
"use strict";

(() => {
  const chosen = new Set();
  const boxes = () => [...document.querySelectorAll('#documents td.choice input[type="checkbox"]:not(:disabled)')];

  const show = () => {
    const all = boxes();
    for (const each of all) each.checked = chosen.has(each.name);
    const there = all.filter((each) => each.checked).length;
    const whole = document.getElementById("choose-all");
    if (whole) {
      whole.hidden = !all.length;
      whole.checked = there > 0 && there === all.length;
      whole.indeterminate = there > 0 && there < all.length;
    }
    const status = document.querySelector("[data-chosen]");
    if (status) status.textContent = there ? gettext("%(number)s selected", { number: there }) : gettext("Select documents to retry or delete");
    for (const each of document.querySelectorAll("#chosen button")) each.hidden = !there;
  };

  document.addEventListener("change", ({ target }) => {
    if (target.id === "choose-all") {
      for (const each of boxes()) chosen[target.checked ? "add" : "delete"](each.name);
    } else if (target.matches("#documents td.choice input")) {
      chosen[target.checked ? "add" : "delete"](target.name);
    } else if (target.matches("#search select")) {
      target.form.requestSubmit();
      return;
    } else return;
    show();
  });
  /* What is on its way is chosen no more. */
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    const { verb, path } = detail.requestConfig;
    const isDone = path.endsWith("/selected/delete") || detail.xhr.status === 204;
    if (verb !== "post" || !path.includes("/selected") || !detail.successful || !isDone) return;
    chosen.clear();
    show();
  });
  const closed = new Set();
  const isWithin = (path, folder) => path === folder || path.startsWith(`${folder}/`);
  const fold = () => {
    for (const each of document.querySelectorAll("#documents tr[data-in]")) {
      each.hidden = [...closed].some((folder) => isWithin(each.dataset.in, folder));
    }
    for (const each of document.querySelectorAll("#documents [data-folder]")) {
      each.setAttribute("aria-expanded", String(!closed.has(each.dataset.folder)));
    }
  };
  document.addEventListener("click", (event) => {
    const folder = event.target.closest("#documents [data-folder]")?.dataset.folder;
    if (folder === undefined) return;
    closed[closed.has(folder) ? "delete" : "add"](folder);
    fold();
  });

  document.addEventListener("htmx:oobAfterSwap", () => { show(); fold(); });
  show();
})();
