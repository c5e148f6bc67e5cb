/*
 * A chip in a sentence opens its passage beside the text; from there on it leads to the file. What
 * is shown is what stands on the page below (parts/citation.html): nothing is asked of anybody.
 */
"use strict";

(() => {
  const passageOf = (chip) => {
    const found = document.getElementById(decodeURIComponent(chip.hash.slice(1)));
    return found && found.matches("li.citation") ? found : null;
  };

  const button = (text, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "secondary outline";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };

  /* All of the passage at once: here is room for it. */
  const contents = (passage) => {
    const article = passage.querySelector("article").cloneNode(true);
    const [head, foot] = [article.querySelector("header"), article.querySelector("footer")];
    const text = article.querySelector(".whole > blockquote") || article.querySelector("blockquote");
    const shown = document.createElement("div");
    shown.className = "shown";
    for (const [part, name] of [[head, "of-source"], [text, ""], [foot, "opens-source"]]) {
      if (!part) continue;
      const made = document.createElement("div");
      made.className = name;
      made.append(...(part === text ? [part] : part.childNodes));
      shown.append(made);
    }
    return shown;
  };

  const open = (chip, first) => {
    let at = first;
    const dialog = document.createElement("dialog");
    const article = document.createElement("article");
    const head = document.createElement("header");
    const title = document.createElement("h2");
    dialog.className = "beside";
    title.id = "beside-title";
    dialog.setAttribute("aria-labelledby", title.id);

    const show = (passage) => {
      at = passage;
      const all = [...passage.parentElement.children];
      const number = passage.querySelector(".cite-number").textContent;
      title.textContent = gettext("Source %(number)s", { number });
      before.disabled = at === all[0];
      after.disabled = at === all[all.length - 1];
      article.replaceChildren(head, contents(passage));
      article.querySelector(".shown").tabIndex = 0;
      if (!dialog.open) dialog.showModal();  // what isn't shown can't be scrolled
      const matters = article.querySelector(".matters") || article.querySelector("mark");
      if (matters) matters.scrollIntoView({ block: "center" });
    };
    const before = button("‹", gettext("Previous source"), () => show(at.previousElementSibling));
    const after = button("›", gettext("Next source"), () => show(at.nextElementSibling));
    head.append(title, before, after, button(gettext("Close"), gettext("Close"), () => dialog.close()));

    dialog.append(article);
    document.body.append(dialog);
    chip.classList.add("is-open");
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      chip.classList.remove("is-open");
      dialog.remove();
      // While an answer is written, its chips come anew several times a second.
      (chip.isConnected ? chip : document.getElementById("main")).focus();
    }, { once: true });
    show(at);
  };

  document.addEventListener("click", (event) => {
    const chip = event.target.closest("a.cite");
    // Whoever wants it in another tab gets it there.
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const passage = passageOf(chip);
    if (!passage) return;
    event.preventDefault();
    open(chip, passage);
  });
})();
