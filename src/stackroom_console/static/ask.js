/* Ask: Enter sends, and the questions of this browser's user can be come back to. */
"use strict";

(() => {
  const MOST = 50;

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.id !== "query") return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  /* Kept in this browser, for each of its users apart; a browser that keeps nothing has none. */
  const box = () => document.getElementById("history");
  const key = () => `stackroom-questions-${box().dataset.user}`;
  const kept = () => {
    try {
      const found = JSON.parse(localStorage.getItem(key()) || "[]");
      return Array.isArray(found) ? found.filter((each) => typeof each.asked === "string") : [];
    } catch {
      return [];
    }
  };
  const keep = (questions) => {
    try {
      if (questions.length) localStorage.setItem(key(), JSON.stringify(questions));
      else localStorage.removeItem(key());
    } catch { /* nothing is kept then */ }
  };

  const named = (id) => document.querySelector(`#ask input[name="${CSS.escape(id)}"]`)?.closest("label").textContent.trim();
  const settings = (asked) => {
    const given = new URLSearchParams(asked);
    const parts = (given.get("catalog") ?? "").split(",").filter(Boolean).map(named).filter(Boolean);
    for (const each of ["file", "where"]) if (given.get(each)) parts.push(given.get(each));
    if (given.get("most")) parts.push(ngettext("%(number)s passage", "%(number)s passages", Number(given.get("most"))));
    if (given.get("threshold")) parts.push(gettext("from %(score)s", { score: given.get("threshold") }));
    return parts.join(", ");
  };

  const show = () => {
    const questions = kept();
    box().hidden = !questions.length;
    box().querySelector("ul").replaceChildren(...questions.map(({ asked, question }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const details = document.createElement("small");
      link.href = `/ask?${asked}`;
      link.textContent = question;
      link.dir = "auto";
      details.className = "muted";
      details.textContent = settings(asked);
      item.append(link, details);
      return item;
    }));
  };

  const note = () => {
    if (!box()) return;
    const answered = document.querySelector("#answer [data-query]");
    if (answered) {
      const { query: asked, question } = answered.dataset;
      keep([{ asked, question }, ...kept().filter((each) => each.asked !== asked)].slice(0, MOST));
    }
    show();
  };

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-clears-history]")) return;
    keep([]);
    show();
    document.getElementById("query").focus();
  });
  /* While an answer is written, the page looks for its first words several times a second. */
  const SOON = 150;  // milliseconds between two looks
  let asking = null;
  const grow = async (id) => {
    while (asking === id) {
      await htmx.ajax("GET", `/ask/growing/part?id=${id}`, { target: "#growing", swap: "innerHTML" });
      await new Promise((resolve) => { setTimeout(resolve, SOON); });
    }
  };
  const isAsk = (event) => event.detail.requestConfig?.elt?.id === "ask" || event.detail.elt?.id === "ask";
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.id !== "ask") return;
    const digits = [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0"));
    asking = `ask-${digits.join("")}`;
    event.detail.parameters.growing = asking;
    document.getElementById("examples")?.remove();
    setTimeout(grow, SOON, asking);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isAsk(event)) return;
    asking = null;
    document.getElementById("growing").replaceChildren();
  });
  /* What was looked for before the answer came is no news. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id === "growing" && asking === null) event.detail.shouldSwap = false;
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-edits-question]")) return;
    const field = document.getElementById("query");
    field.focus();
    field.select();
  });
  const prepare = () => {
    for (const each of document.querySelectorAll("[data-edits-question][hidden]")) each.hidden = false;
  };
  document.addEventListener("htmx:afterSwap", prepare);
  prepare();

  document.addEventListener("htmx:afterSwap", note);
  document.addEventListener("htmx:historyRestore", note);
  note();
})();
