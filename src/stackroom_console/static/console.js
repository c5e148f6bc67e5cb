/* What every page needs: dialogs, and problems shown where they belong. */
"use strict";

(() => {
  const dialogs = () => document.getElementById("dialog");

  /*
   * A dialog that htmx has fetched opens, and the browser moves the focus in. It goes back to what
   * has opened the first, also after one dialog came in place of another or the page's part anew.
   */
  let opener = null;
  const goBack = () => {
    const back = opener && (opener.isConnected ? opener : document.getElementById(opener.id));
    const menu = back?.closest("details.more:not([open])");
    (menu?.querySelector("summary") || back || document.getElementById("main")).focus();
  };
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target } = event.detail;
    if (target === dialogs() && !elt.closest("dialog")) opener = elt;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    const place = dialogs();
    if (event.detail.target !== place) return;
    const dialog = place.querySelector("dialog");
    if (!dialog) goBack();  // what it was for is done
    if (!dialog || dialog.open) return;
    dialog.addEventListener("close", () => {
      place.replaceChildren();
      goBack();
    }, { once: true });
    dialog.showModal();
  });

  document.addEventListener("click", (event) => {
    const closes = event.target.closest("[data-closes]");
    const dialog = closes && closes.closest("dialog");
    if (!dialog || dialog.classList.contains("page")) return;
    event.preventDefault();
    dialog.close();
  });

  /* The theme that was chosen counts at once, and nothing that was typed is lost by it. */
  document.addEventListener("theme", (event) => {
    const chosen = event.detail.value, root = document.documentElement;
    if (chosen === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = chosen;
    document.querySelector('meta[name="color-scheme"]').content = chosen === "system" ? "light dark" : chosen;
    for (const each of document.querySelectorAll(".themes [name=theme]")) {
      each.setAttribute("aria-pressed", String(each.value === chosen));
    }
  });

  /* A menu closes by Escape, which gives the focus back, by a choice, and by a click elsewhere. */
  const openMenus = () => document.querySelectorAll("details:is(.dropdown, .menu, .more)[open]");
  document.addEventListener("keydown", (event) => {
    const [menu] = event.key === "Escape" ? openMenus() : [];
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("click", ({ target }) => {
    for (const each of openMenus()) {
      const isChoice = each.matches(".more") && target.closest(":is(a, button)");
      if (!each.contains(target) || isChoice) each.open = false;
      if (isChoice) each.querySelector("summary").focus();  // what was chosen is shut away
    }
  });

  /* Whoever presses twice means it once: a form that is on its way isn't sent again. */
  const onTheirWay = new Set();
  const isForm = (event) => event.detail.requestConfig.elt.matches("form");
  document.addEventListener("htmx:confirm", (event) => {
    if (onTheirWay.has(event.detail.elt)) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSend", (event) => {
    if (isForm(event)) onTheirWay.add(event.detail.requestConfig.elt);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isForm(event)) return;
    // It takes a moment until another page is there; should none come, it can be sent again.
    const isLeaving = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
    setTimeout(() => onTheirWay.delete(event.detail.requestConfig.elt), isLeaving ? 5000 : 0);
  });

  /* An error goes into the dialog or form that asked, and nothing that was typed is lost. */
  const placeOf = (element) => {
    const near = element.closest("dialog, [data-own-problems]");
    return (near && near.querySelector("[data-problems]")) || document.getElementById("problems");
  };

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.verb !== "get") placeOf(event.detail.elt).replaceChildren();
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    if (xhr.status < 400) return;
    // What is watched is gone: the page anew says so, and shows nothing of it any more.
    const isGone = xhr.status === 404 && requestConfig.elt.matches("[data-watch]");
    // A form that deletes it leads to another page, which a reload would keep from coming.
    if (isGone && onTheirWay.size > 0) return;
    if (isGone && stackroomSession.mayLeave()) location.reload();
    event.detail.shouldSwap = true;
    event.detail.swapOverride = "innerHTML";
    event.detail.target = placeOf(requestConfig.elt);
  });

  /* What has come anew is read out where it says so, for a part that is replaced is not. */
  const news = () => [...document.querySelectorAll("[data-announced]")]
    .map((each) => each.textContent.trim().replace(/\s+/g, " ")).join(". ");
  let known = news();
  document.addEventListener("htmx:oobAfterSwap", () => {
    if (news() === known) return;
    known = news();
    document.getElementById("announced").textContent = known;
  });

  /* What is watched is looked at again after a failure, at once after a change, and only if seen. */
  const look = () => {
    const watch = document.querySelector("[data-watch]");
    if (watch && !document.hidden) htmx.trigger(watch, "look");
  };
  document.addEventListener("changed", look);
  document.addEventListener("visibilitychange", look);
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.matches("[data-watch]")) event.preventDefault();
  });
  for (const name of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.elt.matches("[data-watch]")) setTimeout(look, 10000);
    });
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    // The answer puts another in its place: the event comes from what is around it.
    const isWatch = event.detail.requestConfig.elt.matches("[data-watch]");
    if (isWatch && event.detail.successful) document.getElementById("problems").replaceChildren();
    if (event.detail.successful) for (const each of document.querySelectorAll(".unreached")) each.remove();
  });

  document.addEventListener("htmx:sendError", (event) => {
    const message = document.createElement("p");
    message.className = "problem unreached";
    message.textContent = gettext("The console can't be reached. Nothing was lost: try again in a moment.");
    placeOf(event.detail.elt).replaceChildren(message);
  });
})();
