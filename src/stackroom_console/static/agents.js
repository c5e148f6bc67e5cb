/* A file that is chosen fills the text beside it, so that it is sent as any other field. */
"use strict";

document.addEventListener("change", async (event) => {
  const filled = event.target.dataset && event.target.dataset.fills;
  const file = filled && event.target.files && event.target.files[0];
  if (file) document.getElementById(filled).value = await file.text();
});
