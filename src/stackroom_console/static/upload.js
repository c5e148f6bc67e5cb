/*
 * Files into a catalog: each asks the console for a form, and is posted by it to the bucket. What
 * became of it is in the records, in the list below. The tray shows what is under way, with
 * problems on top, and folds when all is done.
 */
"use strict";

(() => {
  const AT_ONCE = 3;
  const SLICE = 4 * 1024 * 1024;  // bytes at a time, between which the page lives on
  const ALL = {
    retry: (number) => gettext("Retry all (%(number)s)", { number }),
    replace: (number) => gettext("Replace all (%(number)s)", { number }),
    skip: (number) => gettext("Dismiss all (%(number)s)", { number }),
  };
  const SESSION_IS_OVER = ["NOT_SIGNED_IN", "CSRF_TOKEN_INVALID"];
  const section = document.getElementById("upload");
  if (!section) return;

  const list = document.getElementById("uploads");
  const summary = document.getElementById("upload-summary");
  const tray = document.getElementById("tray");
  const whole = document.getElementById("upload-progress");
  const cancelAll = document.getElementById("cancel-uploads");
  const drop = section.querySelector(".drop");
  const allowed = { types: section.dataset.types.split(" "), maxBytes: Number(section.dataset.maxBytes) };
  const waiting = [];
  const running = new Set();
  const refused = new Set();
  const counts = { all: 0, done: 0, skipped: 0, cancelled: 0, leftOut: 0 };
  const bytes = { all: 0, sent: 0 };
  let isKnown = false;  // a file was there already

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const megabytes = (size) => (size < 1048576 ? `${Math.ceil(size / 1024)} KB` : `${(size / 1048576).toFixed(1)} MB`);

  /* S3's ETag of what came by a form [S3 API reference: Object]: tells whether that very file is there. */
  const md5Of = async (file) => {
    const hash = md5.create();
    for (let start = 0; start < file.size; start += SLICE) {
      hash.update(await file.slice(start, start + SLICE).arrayBuffer());
    }
    return hash.hex();
  };

  const update = () => {
    tray.hidden = !counts.all && !counts.leftOut;
    const parts = [gettext("%(done)s of %(all)s uploaded", counts)];
    if (counts.skipped) parts.push(gettext("%(skipped)s skipped", counts));
    if (counts.cancelled) parts.push(gettext("%(cancelled)s cancelled", counts));
    if (refused.size) parts.push(gettext("%(number)s refused", { number: refused.size }));
    if (waiting.length) parts.push(gettext("%(number)s queued", { number: waiting.length }));
    if (counts.leftOut) parts.push(ngettext("%(number)s file left out", "%(number)s files left out", counts.leftOut));
    summary.textContent = parts.join(", ");
    for (const button of section.querySelectorAll("[data-all]")) {
      const many = [...refused].filter((each) => button.dataset.all === "skip" || each.again === button.dataset.all);
      button.hidden = many.length < 2;
      button.textContent = ALL[button.dataset.all](many.length);
    }
    const isOver = !running.size && !waiting.length;
    whole.hidden = isOver;
    cancelAll.hidden = running.size + waiting.length < 2;
    if (isOver) document.getElementById("upload-left").textContent = "";
    if (isOver && counts.all && !refused.size) tray.open = false;
  };

  const measure = (sent) => {
    bytes.sent += sent;
    whole.max = bytes.all || 1;
    whole.value = bytes.sent;
    whole.textContent = gettext("%(size)s left", { size: megabytes(bytes.all - bytes.sent) });
    document.getElementById("upload-left").textContent = whole.hidden ? "" : whole.textContent;
  };

  class Upload {
    constructor({ path, file }) {
      this.path = path;
      this.file = file;
      this.sent = 0;
      this.item = element("li");
      const name = element("span");
      name.append(element("bdi", path));
      this.item.append(name);
      this.bar = element("progress");
      this.bar.max = 100;
      this.bar.value = 0;
      this.bar.setAttribute("aria-label", gettext("Upload of %(name)s", { name: path }));
      this.status = element("small", gettext("Queued"), "muted");
      this.buttons = element("span", "", "actions");
      this.item.append(this.bar, this.status, this.buttons);
      list.append(this.item);
    }

    button(text, label, act) {
      const made = element("button", text, "link");
      made.type = "button";
      made.setAttribute("aria-label", label);
      made.addEventListener("click", () => { act(); update(); });
      return made;
    }

    /* `again` is what may help: to "retry", to "replace" what is there, or nothing. */
    refuse(message, again) {
      this.again = again;
      refused.add(this);
      this.move(0);
      this.bar.hidden = true;
      this.item.classList.add("refused");
      this.status.textContent = message;
      this.status.setAttribute("role", "alert");
      const name = this.path;
      const tryAgain = () => this.tryAgain();
      const buttons = [this.button(gettext("Dismiss"), gettext("Dismiss %(name)s", { name }), () => this.skip(gettext("Dismissed")))];
      if (again === "replace") buttons.unshift(this.button(gettext("Replace"), gettext("Replace %(name)s", { name }), tryAgain));
      else if (again) buttons.unshift(this.button(gettext("Retry"), gettext("Retry %(name)s", { name }), tryAgain));
      this.buttons.replaceChildren(...buttons);
      list.prepend(this.item);
    }

    settle(message) {
      refused.delete(this);
      this.item.classList.remove("refused");
      this.status.removeAttribute("role");
      this.status.textContent = message;
      this.buttons.replaceChildren();
    }

    tryAgain() {
      this.settle(gettext("Queued"));
      this.bar.hidden = false;
      this.bar.value = 0;
      this.replace = this.replace || this.again === "replace";
      enqueue(this);
    }

    skip(why) {
      this.settle(why);
      this.bar.hidden = true;
      this.end();
      counts.skipped += 1;
    }

    /*
     * Stops what is being sent, and deletes the record that the form made; one that is asked for
     * comes first. A file that was to be replaced keeps its record, which is of what is here.
     */
    cancel() {
      this.isCancelled = true;
      const at = waiting.indexOf(this);
      if (at >= 0) waiting.splice(at, 1);
      this.stop?.abort();
      this.settle(gettext("Cancelled"));
      this.bar.hidden = true;
      this.end();
      counts.cancelled += 1;
      if (this.documentId && !this.replace) this.callOff();
    }

    async callOff() {
      const body = new URLSearchParams({ csrf_token: stackroomSession.token() });
      const path = `${location.pathname}/documents/${this.documentId}/delete`;
      await fetch(path, { method: "POST", headers: { "HX-Request": "true" }, body }).catch(() => {});
      document.body.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
    }

    /* Nothing is left to do for it. */
    end() {
      this.move(this.file ? this.file.size : 0);
      list.append(this.item);
    }

    move(sent) {
      measure(sent - this.sent);
      this.sent = sent;
    }

    async run() {
      this.status.textContent = gettext("Starting");
      this.stop = new AbortController();
      let answer;
      try {
        // Of a folder that is dropped again most files are the same: then it's asked at once.
        let md5 = isKnown && !this.replace ? await md5Of(this.file) : "";
        answer = await this.form(md5);
        if (!answer.success && SESSION_IS_OVER.includes(answer.error.code) && (await stackroomSession.renew())) {
          answer = await this.form(md5);
        }
        if (!answer.success && answer.error.code === "DOCUMENT_EXISTS" && !md5) {
          isKnown = true;
          this.status.textContent = gettext("Comparing with the existing file");
          md5 = await md5Of(this.file);
          answer = await this.form(md5);
        }
      } catch {
        if (!this.isCancelled) this.refuse(gettext("The console can't be reached, or the file can no longer be read."), "retry");
        return;
      }
      if (answer.success) this.documentId = answer.data.documentId;
      if (this.isCancelled) {
        if (answer.success && !answer.data.isThere && !this.replace) this.callOff();
        return;
      }
      if (!answer.success) {
        const { code, message } = answer.error;
        if (SESSION_IS_OVER.includes(code)) this.refuse(gettext("Session expired. Sign in in a new tab, then retry."), "retry");
        else if (code === "DOCUMENT_EXISTS") this.refuse(gettext("A different file with this name already exists."), "replace");
        else if (["UNAVAILABLE", "INTERNAL_ERROR", "THROTTLED", "TOOK_TOO_LONG"].includes(code)) this.refuse(message, "retry");
        else this.refuse(message);
        return;
      }
      if (answer.data.isThere) {
        this.skip(gettext("Skipped: this file is already in the catalog"));
        return;
      }
      const problem = await this.post(answer.data);
      if (this.isCancelled) return;
      if (problem) {
        this.refuse(problem, "retry");
        return;
      }
      counts.done += 1;
      this.bar.value = 100;
      this.settle(gettext("Uploaded"));
      this.end();
    }

    async form(md5) {
      const asked = { filename: this.path, size: this.file.size, replace: Boolean(this.replace) };
      const response = await fetch(section.dataset.upload, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-CSRF-Token": stackroomSession.token(),
        },
        body: JSON.stringify(md5 ? { ...asked, md5 } : asked),
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
          const part = event.loaded / event.total;
          this.bar.value = part * 100;
          this.move(part * this.file.size);
          const share = { percent: Math.floor(this.bar.value), size: megabytes(this.file.size) };
          this.status.textContent = part < 1 ? gettext("%(percent)s% of %(size)s", share) : gettext("Finishing");  // until the store has answered
        });
        request.addEventListener("load", () => {
          if (request.status >= 200 && request.status < 300) {
            resolve(null);
            return;
          }
          const why = request.responseXML?.querySelector("Message")?.textContent ?? "";
          const { status } = request;
          const problem = gettext("The file could not be stored (status %(status)s).", { status });
          resolve(`${problem} ${why}`.trim());
        });
        request.addEventListener("error", () => resolve(gettext("The connection was lost.")));
        request.addEventListener("abort", () => resolve(gettext("The upload was interrupted.")));
        this.stop.signal.addEventListener("abort", () => request.abort());
        request.open("POST", url);
        request.send(form);
      });
    }
  }

  const next = async () => {
    if (running.size >= AT_ONCE || !waiting.length) return;
    const upload = waiting.shift();
    running.add(upload);
    next();
    try {
      await upload.run();
    } finally {
      running.delete(upload);
      update();
      document.body.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
      next();
    }
  };

  const enqueue = (upload) => {
    upload.status.textContent = gettext("Queued");
    upload.buttons.replaceChildren(upload.button(gettext("Cancel"), gettext("Cancel %(name)s", { name: upload.path }), () => upload.cancel()));
    waiting.push(upload);
    update();
    next();
  };

  for (const button of section.querySelectorAll("[data-all]")) {
    button.addEventListener("click", () => {
      for (const each of [...refused]) {
        if (button.dataset.all === "skip") each.skip(gettext("Dismissed"));
        else if (each.again === button.dataset.all) each.tryAgain();
      }
      update();
    });
  }

  cancelAll.addEventListener("click", () => {
    for (const each of [...waiting, ...running]) each.cancel();
    update();
  });

  /* What has come to an end gives way to what comes next, and what is tried anew to itself. */
  const clear = (wanted) => {
    const paths = new Set(wanted.map(({ path }) => path));
    for (const each of [...refused].filter(({ path }) => paths.has(path))) {
      refused.delete(each);
      each.item.remove();
      counts.all -= 1;
    }
    if (running.size || waiting.length) return;
    list.replaceChildren(...[...refused].map(({ item }) => item));
    Object.assign(counts, { all: refused.size, done: 0, skipped: 0, cancelled: 0, leftOut: 0 });
    Object.assign(bytes, { all: 0, sent: 0 });
    for (const each of refused) if (each.again) bytes.all += each.file.size;
  };

  const take = (found) => {
    const wanted = found.filter(({ isLeftOut }) => !isLeftOut);
    if (wanted.length) tray.open = true;
    clear(wanted);
    counts.leftOut += found.length - wanted.length;
    for (const each of wanted) {
      counts.all += 1;
      const upload = new Upload(each);
      const refusal = stackroomFiles.refusalOf(each, allowed);
      if (refusal) upload.refuse(refusal);
      else {
        bytes.all += each.file.size;
        enqueue(upload);
      }
    }
    update();
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
    if (running.size || waiting.length) event.preventDefault();
  });
})();
