/*
 * Moments as people tell them: "3 minutes ago", of each <time datetime>. The server writes them in
 * UTC, which stays on hover, and where there is no script.
 */
"use strict";

(() => {
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const A_WEEK = 7 * 86400;
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

  const format = (moment) => {
    const seconds = (Date.now() - moment) / 1000;
    if (Math.abs(seconds) >= A_WEEK) return day.format(moment);
    const [unit, length] = UNITS.find((each) => Math.abs(seconds) >= each[1]) ?? [];
    if (unit) return relative.format(-Math.trunc(seconds / length), unit);
    return seconds < 0 ? gettext("in less than a minute") : gettext("just now");
  };

  const update = () => {
    for (const each of document.querySelectorAll("time[datetime]")) {
      const moment = new Date(each.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      if (!each.title) each.title = moment.toISOString().replace("T", " ").replace(/(\.000)?Z$/, " UTC");
      const words = format(moment);
      if (each.textContent !== words) each.textContent = words;
    }
  };

  update();
  setInterval(update, 30000);
  for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) document.addEventListener(name, update);
})();
