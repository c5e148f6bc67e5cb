/*
 * What somebody chose or dropped: files, and folders with all that is in them. A file of a folder is
 * called by its path, as in the catalog. Hidden ones, and those that systems and programs keep for
 * themselves (model/keys.py), are left out: they come as `{ path, isLeftOut }`.
 */
"use strict";

const stackroomFiles = (() => {
  const junk = new RegExp(`^(?:${document.getElementById("upload")?.dataset.junk})$`, "is");
  const isHidden = (path) => path.split("/").some((part) => part.startsWith("."));

  /* A folder tells what is in it a hundred at a time, until it tells nothing more. */
  const entriesIn = async (folder) => {
    const reader = folder.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
      if (!some.length) return found;
      found.push(...some);
    }
  };

  const walked = async (entry) => {
    const path = entry.fullPath.replace(/^\//, "");
    if (isHidden(path) || junk.test(path)) return [{ path, isLeftOut: true }];
    try {
      if (entry.isFile) {
        const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
        return [{ path, file }];
      }
      const found = [];
      for (const each of await entriesIn(entry)) found.push(...await walked(each));
      return found;
    } catch {
      return [{ path, file: null }];  // which the browser may not read
    }
  };

  const chosen = (files) => [...files]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .map(({ path, file }) => {
      const isLeftOut = junk.test(path) || (file.webkitRelativePath && isHidden(path));
      return isLeftOut ? { path, isLeftOut } : { path, file };
    });

  /* What is dropped can be asked for only while the event is handled: all of it at once, then. */
  const dropped = async (transfer) => {
    const entries = [...transfer.items]
      .map((item) => (item.webkitGetAsEntry ? item.webkitGetAsEntry() : null))
      .filter(Boolean);
    if (!entries.length) return chosen(transfer.files);
    const found = [];
    for (const entry of entries) found.push(...await walked(entry));
    return found;
  };

  const extensionOf = (path) => {
    const last = path.slice(path.lastIndexOf("/") + 1);
    const dot = last.lastIndexOf(".");
    return dot > 0 ? last.slice(dot + 1).toLowerCase() : "";
  };

  /* The same as the server refuses, which is asked all the same; the answer comes at once here. */
  const refusalOf = ({ path, file }, { types, maxBytes }) => {
    if (!file) return gettext("The browser can't read this file. Drop it by itself, or choose it.");
    const extension = extensionOf(path);
    const fields = { extension, types: types.join(", "), size: Math.floor(maxBytes / 1048576) };
    if (!extension) return gettext("The file name has no extension. Allowed: %(types)s.", fields);
    if (!types.includes(extension)) return gettext("File type '.%(extension)s' isn't supported. Allowed: %(types)s.", fields);
    if (file.size === 0) return gettext("The file is empty.");
    if (file.size > maxBytes) return gettext("The file is larger than %(size)s MB. Split it and upload the parts.", fields);
    return null;
  };

  return { chosen, dropped, refusalOf };
})();
