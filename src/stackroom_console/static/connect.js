/* Lines are copied by a press, where the browser lets a page do that. */
"use strict";

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      button.textContent = gettext("Copied");
      document.getElementById("announced").textContent = gettext("Copied");
      setTimeout(() => {
        button.textContent = gettext("Copy");
        document.getElementById("announced").textContent = "";
      }, 2000);
    });
  }
}
