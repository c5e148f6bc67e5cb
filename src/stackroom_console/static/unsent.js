/*
 * What was to be uploaded and isn't yet, by name: a reload ends all uploads, and nobody but the
 * browser knows which. It is kept for this tab, this user and this catalog.
 */
"use strict";

const stackroomUnsent = (() => {
  const MOMENT = 300;  // milliseconds, for many names are kept at once
  const user = document.querySelector("bdi.user")?.textContent ?? "";
  const place = `stackroom-unsent ${user} ${location.pathname}`;
  let timer = null;

  const load = () => {
    try {
      const found = JSON.parse(sessionStorage.getItem(place) ?? "[]");
      return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
    } catch {
      return [];
    }
  };

  const cutOff = new Set(load());  // by the reload before this page
  const names = new Set(cutOff);

  const save = () => {
    timer = null;
    try {
      if (names.size) sessionStorage.setItem(place, JSON.stringify([...names]));
      else sessionStorage.removeItem(place);
    } catch {
      // Where nothing may be kept, nothing is shown after a reload.
    }
  };
  const soon = () => { timer ??= setTimeout(save, MOMENT); };
  window.addEventListener("pagehide", save);

  return {
    cutOff,
    add: (name) => { names.add(name); soon(); },
    forget: (name) => { names.delete(name); cutOff.delete(name); soon(); },
  };
})();
