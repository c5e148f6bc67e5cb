/*
 * Files into a catalog: each asks the console for a form, and is posted by it to the bucket. What
 * became of it is told by the records, in the list below: a reload loses no more than the bars.
 */
"use strict";

(() => {
  const AT_ONCE = 3;
  const SESSION_IS_OVER = ["NOT_SIGNED_IN", "CSRF_TOKEN_INVALID"];
  const section = document.getElementById("upload");
  if (!section) return;

  const list = document.getElementById("uploads");
  const summary = document.getElementById("upload-summary");
  const drop = section.querySelector(".drop");
  const allowed = { types: section.dataset.types.split(" "), maxBytes: Number(section.dataset.maxBytes) };
  const waiting = [];
  const counts = { all: 0, done: 0, refused: 0, active: 0 };

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const tell = () => {
    if (!counts.all) return;
    const parts = [`${counts.done} of ${counts.all} uploaded`];
    if (counts.refused) parts.push(`${counts.refused} refused`);
    if (waiting.length) parts.push(`${waiting.length} waiting`);
    summary.textContent = parts.join(", ");
  };

  class Upload {
    constructor({ path, file }) {
      this.path = path;
      this.file = file;
      this.item = element("li");
      const name = element("span");
      name.append(element("bdi", path));
      this.item.append(name);
      this.bar = element("progress");
      this.bar.max = 100;
      this.bar.value = 0;
      this.bar.setAttribute("aria-label", `Upload of ${path}`);
      this.told = element("small", "waits for its turn", "told");
      this.buttons = element("span", "", "actions");
      this.item.append(this.bar, this.told, this.buttons);
      list.append(this.item);
    }

    refuse(message, again) {
      counts.refused += 1;
      this.bar.hidden = true;
      this.item.classList.add("refused");
      this.told.textContent = message;
      this.told.setAttribute("role", "alert");
      if (!again) return;
      const button = element("button", again.label, "link");
      button.type = "button";
      button.setAttribute("aria-label", `${again.label} ${this.path}`);
      button.addEventListener("click", () => {
        counts.refused -= 1;
        this.item.classList.remove("refused");
        this.told.removeAttribute("role");
        this.buttons.replaceChildren();
        this.bar.hidden = false;
        this.replace = this.replace || again.replace;
        enqueue(this);
      });
      this.buttons.replaceChildren(button);
    }

    async run() {
      this.told.textContent = "about to be sent";
      let answer;
      try {
        answer = await this.form();
        if (!answer.success && SESSION_IS_OVER.includes(answer.error.code) && (await stackroomSession.renew())) {
          answer = await this.form();
        }
      } catch {
        this.refuse("The console can't be reached.", { label: "Try again" });
        return;
      }
      if (!answer.success) {
        const { code, message } = answer.error;
        if (SESSION_IS_OVER.includes(code)) this.refuse("Your session is over. Sign in in another window, then try again.", { label: "Try again" });
        else if (code === "DOCUMENT_EXISTS") this.refuse("There is a file of that name already.", { label: "Replace", replace: true });
        else if (code === "UNAVAILABLE" || code === "INTERNAL_ERROR") this.refuse(message, { label: "Try again" });
        else this.refuse(message);
        return;
      }
      const problem = await this.post(answer.data);
      if (problem) {
        this.refuse(problem, { label: "Try again", replace: this.replace });
        return;
      }
      counts.done += 1;
      this.bar.value = 100;
      this.told.textContent = "uploaded; the list below tells how far it is";
    }

    async form() {
      const response = await fetch(section.dataset.upload, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-CSRF-Token": stackroomSession.token(),
        },
        body: JSON.stringify({ filename: this.path, size: this.file.size, replace: Boolean(this.replace) }),
      });
      return response.json();
    }

    /* Nothing but XMLHttpRequest tells how far a request has come. */
    post({ url, fields }) {
      return new Promise((resolve) => {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        form.append("file", this.file);
        const request = new XMLHttpRequest();
        request.upload.addEventListener("progress", (event) => {
          if (!event.lengthComputable) return;
          this.bar.value = (event.loaded / event.total) * 100;
          this.told.textContent = `${Math.floor(this.bar.value)} % of ${(this.file.size / 1048576).toFixed(1)} MB`;
        });
        request.addEventListener("load", () => {
          if (request.status >= 200 && request.status < 300) {
            resolve(null);
            return;
          }
          const why = request.responseXML?.querySelector("Message")?.textContent ?? "";
          resolve(`The store didn't take the file (status ${request.status}). ${why}`.trim());
        });
        request.addEventListener("error", () => resolve("The connection to the store broke."));
        request.addEventListener("abort", () => resolve("The upload was broken off."));
        request.open("POST", url);
        request.send(form);
      });
    }
  }

  const next = async () => {
    if (counts.active >= AT_ONCE || !waiting.length) return;
    counts.active += 1;
    const upload = waiting.shift();
    next();
    try {
      await upload.run();
    } finally {
      counts.active -= 1;
      tell();
      document.body.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
      next();
    }
  };

  const enqueue = (upload) => {
    upload.told.textContent = "waits for its turn";
    waiting.push(upload);
    tell();
    next();
  };

  const take = (found) => {
    for (const each of found) {
      counts.all += 1;
      const upload = new Upload(each);
      const refusal = stackroomFiles.refusalOf(each, allowed);
      if (refusal) upload.refuse(refusal);
      else enqueue(upload);
    }
    tell();
  };

  /* Files may have been chosen already, before the page had this script. */
  for (const input of section.querySelectorAll("input[type=file]")) {
    const takeChosen = () => {
      if (!input.files.length) return;
      take(stackroomFiles.chosen(input.files));
      input.value = "";
    };
    input.addEventListener("change", takeChosen);
    takeChosen();
  }

  /* A file that misses the field would otherwise open in place of the page, and end all uploads. */
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, () => drop.classList.add("over"));
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => take(await stackroomFiles.dropped(event.dataTransfer)));
  drop.hidden = false;  // what is dropped before that would be opened in place of the page

  window.addEventListener("beforeunload", (event) => {
    if (counts.active || waiting.length) event.preventDefault();
  });
})();
