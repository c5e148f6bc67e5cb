/*
 * What eyes find wrong with a page: each a line of text, none if all is well. Of a page with an open
 * dialog that alone is looked at, for nobody can reach what is behind it.
 */
() => {
  const root = document.querySelector("dialog:modal") || document.body;
  const width = document.documentElement.clientWidth;
  const elements = [...root.querySelectorAll("*")].filter((each) =>
    each.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }));
  const told = (node) => {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const text = (node.textContent || "").trim().slice(0, 60);
    return element.tagName.toLowerCase() + (element.id ? "#" + element.id : "") + ": " + text;
  };
  const parents = function* (element) {
    for (let each = element; each; each = each.parentElement) yield [each, getComputedStyle(each)];
  };

  /* Wider than the page, or with text that is cut off and no way to scroll to it. */
  const scrolls = (element) =>
    [...parents(element)].some(([, style]) => /auto|scroll/.test(style.overflowX));
  const wide = elements.filter((each) =>
    each.getBoundingClientRect().right > width + 1 && !scrolls(each));
  const isCut = (each) => {
    const style = getComputedStyle(each);
    const across = style.overflowX === "hidden" && style.textOverflow !== "ellipsis" &&
      each.scrollWidth > each.clientWidth + 1;
    const down = style.overflowY === "hidden" && each.scrollHeight > each.clientHeight + 1;
    return (across || down) && each.clientWidth > 1 && each.clientHeight > 1;
  };

  /* Of a box what is seen of it: all around it that doesn't let it out cuts it. */
  const seen = (rect, element) => {
    const box = { left: rect.left, top: rect.top, right: rect.right, bottom: rect.bottom };
    for (const [each, style] of parents(element)) {
      if (style.overflow === "visible") continue;
      const edge = each.getBoundingClientRect();
      box.left = Math.max(box.left, edge.left);
      box.top = Math.max(box.top, edge.top);
      box.right = Math.min(box.right, edge.right);
      box.bottom = Math.min(box.bottom, edge.bottom);
    }
    return box;
  };
  const boxes = [];
  const add = (node, element, rects) => {
    for (const rect of rects) {
      const box = seen(rect, element);
      if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push({ node, ...box });
    }
  };
  const visible = new Set(elements);
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.data.trim() || !visible.has(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    add(node, node.parentElement, range.getClientRects());
  }
  for (const each of elements) {
    if (each.matches("input, select, textarea, progress, img, button, [role=button]")) {
      add(each, each, [each.getBoundingClientRect()]);
    }
  }

  /* Lines of a text come closer than its letters are high: a quarter of the lower one may be shared. */
  const overlap = (one, other) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    const lower = Math.min(one.bottom - one.top, other.bottom - other.top);
    return across > 2 && down > lower / 4;
  };
  /* What is pinned to the window covers what scrolls below it. */
  const pinned = (node) => {
    for (let each = node.parentElement; each; each = each.parentElement) {
      if (getComputedStyle(each).position === "sticky") return each;
    }
    return null;
  };
  const overlapping = boxes.flatMap((one, at) => boxes.slice(at + 1)
    .filter((other) => !one.node.contains(other.node) && !other.node.contains(one.node))
    .filter((other) => overlap(one, other) && pinned(one.node) === pinned(other.node))
    .map((other) => `overlap ${told(one.node)} | ${told(other.node)}`));

  return [
    ...wide.map((each) => "wide " + told(each)),
    ...elements.filter(isCut).map((each) => "cut " + told(each)),
    ...new Set(overlapping),
  ];
}
