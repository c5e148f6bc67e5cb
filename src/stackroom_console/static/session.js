/*
 * A session that ends while somebody works here: whoever signs in anew in another window goes on in
 * this one, and nothing is lost that was typed or waits to be sent.
 */
"use strict";

const stackroomSession = (() => {
  const NOT_SIGNED_IN = 401;
  const NOT_OUR_TOKEN = 403;
  let isOver = false;

  const token = () => document.querySelector('meta[name="csrf-token"]');
  const user = (page) => page.querySelector("bdi.user")?.textContent;

  /* Whether its user is signed in again, and this page has the token of that session now. */
  const renew = async () => {
    try {
      const response = await fetch("/sign-in", { redirect: "error" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!user(page) || user(page) !== user(document)) return false;
      const found = page.querySelector('meta[name="csrf-token"]').content;
      token().content = found;
      document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRF-Token": found }));
      isOver = false;
      return true;
    } catch {
      return false;
    }
  };

  const fields = () => [...document.querySelectorAll("textarea, input:not([type=hidden]):not([type=file])")];
  const isTyped = () => fields().some((each) => each.value !== each.defaultValue || each.checked !== each.defaultChecked);
  /* Leaving asks before it breaks off an upload; then the page had better stay. */
  const mayLeave = () => !isTyped() && window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

  /* A look alone, with nothing to lose: the page anew leads to the sign-in, which may ask nothing. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    if (![NOT_SIGNED_IN, NOT_OUR_TOKEN].includes(xhr.status)) return;
    if (xhr.status === NOT_SIGNED_IN && requestConfig.verb === "get" && mayLeave()) location.reload();
    isOver = true;
  });

  /* Before the next request: has somebody signed in meanwhile? */
  document.addEventListener("htmx:confirm", (event) => {
    if (!isOver) return;
    event.preventDefault();
    renew().finally(() => event.detail.issueRequest(true));
  });

  return { token: () => token().content, renew, mayLeave };
})();
