/* What is searched stands on the line under which its fields are folded. */
"use strict";

document.addEventListener("change", (event) => {
  const choice = event.target.closest("[data-choice]");
  if (!choice) return;
  const checked = [...choice.querySelectorAll(".boxes input:checked")].map((each) => each.closest("label").textContent.trim());
  const typed = [...choice.querySelectorAll("input[name=file], input[name=where]")].map((each) => each.value.trim());
  const told = [checked.join(", ") || "all catalogs", ...typed.filter(Boolean)];
  choice.querySelector(".choice-told").textContent = `Search in ${told.join(", ")}`;
});
