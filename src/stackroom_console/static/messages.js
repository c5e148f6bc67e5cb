/* The texts of scripts, by the names of gettext; English is the only language (messages.py). */
"use strict";

const interpolate = (text, fields) => text.replace(/%\((\w+)\)s/g, (_, name) => fields[name]);
const gettext = (text, fields = {}) => interpolate(text, fields);
const ngettext = (one, several, number, fields = {}) => interpolate(number === 1 ? one : several, { number, ...fields });
