/* The file beside its passages, where the browser shows a PDF within a page: elsewhere it would be
   saved unasked. */
"use strict";

for (const frame of document.querySelectorAll("iframe[data-preview]")) {
  if (!navigator.pdfViewerEnabled) continue;
  frame.hidden = false;
  frame.src = frame.dataset.preview;
  /* From here on a passage leads to its page there; before, and elsewhere, to the file itself. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".cut header a[href*='#page=']");
    if (!link) return;
    link.target = frame.name;
    frame.scrollIntoView({ block: "nearest" });  // in a narrow window it stands below the passages
  });
}
