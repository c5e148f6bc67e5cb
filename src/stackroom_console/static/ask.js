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

  const settings = (asked) => {
    const given = new URLSearchParams(asked);
    const form = document.getElementById("ask");
    const catalog = [...form.elements.catalog.options].find((each) => each.value && each.value === given.get("catalog"));
    const told = catalog ? [catalog.textContent.trim()] : [];
    if (given.get("most")) told.push(`${given.get("most")} passage${given.get("most") === "1" ? "" : "s"}`);
    if (given.get("threshold")) told.push(`from ${given.get("threshold")}`);
    return told.join(", ");
  };

  const show = () => {
    const questions = kept();
    box().hidden = !questions.length;
    box().querySelector("ul").replaceChildren(...questions.map(({ asked, question }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const told = document.createElement("small");
      link.href = `/ask?${asked}`;
      link.textContent = question;
      link.dir = "auto";
      told.className = "told";
      told.textContent = settings(asked);
      item.append(link, told);
      return item;
    }));
  };

  const note = () => {
    if (!box()) return;
    const answered = document.querySelector("#answer [data-asked]");
    if (answered) {
      const { asked, question } = answered.dataset;
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
  document.addEventListener("htmx:afterSwap", note);
  document.addEventListener("htmx:historyRestore", note);
  note();
})();
