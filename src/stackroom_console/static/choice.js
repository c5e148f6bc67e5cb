/* What is searched stands on the line under which its fields are folded. */
"use strict";

document.addEventListener("change", (event) => {
  const choice = event.target.closest("[data-choice]");
  if (!choice) return;
  const checked = [...choice.querySelectorAll(".boxes input:checked")].map((each) => each.closest("label").textContent.trim());
  const value = (name) => choice.querySelector(`input[name=${name}]`)?.value.trim();
  const most = value("most"), least = value("threshold");
  const chosen = [
    checked.join(", ") || gettext("all catalogs"), value("file"), value("where"),
    most && most !== "5" && ngettext("%(number)s passage", "%(number)s passages", Number(most)),
    least && gettext("from %(score)s", { score: least }),
  ].filter(Boolean);
  choice.querySelector(".choice-summary").textContent = gettext("Search in %(chosen)s", { chosen: chosen.join(", ") });
});
