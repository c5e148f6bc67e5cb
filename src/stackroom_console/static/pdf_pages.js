/*
 * The page of a PDF beside its text, with the passage marked on it that somebody came for. pdf.js
 * reads the file from the bucket in parts, and only the page and its neighbours are drawn.
 */
const root = document.getElementById("pdf");
const box = root.querySelector(".pdf-pages");
const [before, after] = root.querySelectorAll("button");
const position = root.querySelector(".pdf-position");
const status = root.querySelector("[role=status]");
const SMALL = 1024 * 1024;  // bytes: a file up to this size comes in one piece
const SHORTEST = 8;  // letters of a line that is looked for by itself
const MARGIN = 16;  // pixels above what the page has scrolled to

/* In a narrow window the page stands above the text. */
if (location.hash === "#passage" && matchMedia("(max-width: 63.99em)").matches) location.replace("#pdf");
root.hidden = false;

/* The console's address of the file leads to a signed one, which is used until it has expired. */
let address = root.dataset.file;
const send = async (range) => {
  const answer = await fetch(address, { cache: "no-store", headers: range ? { Range: range } : {} });
  if (!answer.ok || new URL(answer.url).origin === location.origin) throw new Error(`the file: ${answer.status}`);
  address = answer.url;
  return answer;
};
const bytes = (begin, end) => {
  const attempt = async () => (await send(`bytes=${begin}-${end - 1}`)).arrayBuffer();
  return attempt().catch(() => {
    address = root.dataset.file;
    return attempt();
  });
};

const load = async ({ PDFDataRangeTransport, getDocument }, failed) => {
  const whole = await send();
  const length = Number(whole.headers.get("Content-Length"));
  const folder = new URL(".", new URL(root.dataset.library, location)).href;
  const source = {};
  if (length > SMALL) {
    whole.body.cancel();
    source.range = new PDFDataRangeTransport(length, null);
    source.range.requestDataRange = (begin, end) => {
      bytes(begin, end).then((part) => source.range.onDataRange(begin, part), failed);
    };
  } else {
    source.data = await whole.arrayBuffer();
  }
  return getDocument({
    ...source,
    disableAutoFetch: true,
    disableStream: true,
    useWasm: false,  // for which our Content Security Policy would have to allow code from data
    wasmUrl: `${folder}wasm/`,
    cMapUrl: `${folder}cmaps/`,
    standardFontDataUrl: `${folder}standard_fonts/`,
  }).promise;
};

/* Letters and digits alone: spaces, hyphens and accents differ between two readers of a PDF. */
const folded = (text) => [...text].map((each) => each.normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")).join("");

/* The passage as the text beside has it on each page, or else as the address names its two ends. */
const passages = new Map();
let page = Number(root.dataset.page);
for (const each of document.querySelectorAll(".document-text > :is(h2, .passage)")) {
  if (each.matches("h2")) page = Number(each.id.slice("page-".length));
  else passages.set(page, `${passages.get(page) || ""}${each.innerText}\n`);
}
const query = new URLSearchParams(location.search);
const ends = [query.get("from"), query.get("to")].filter(Boolean);
const passageOn = (number) => passages.size ? passages.get(number) || "" : ends.join("\n");

/* Where the passage stands among the letters of a page: as a whole, or else line by line. */
const spans = (letters, passage) => {
  const whole = folded(passage);
  const lines = letters.includes(whole) ? [whole] : passage.split("\n").map(folded).filter((line) => line.length >= SHORTEST);
  const found = [];
  let at = 0;
  for (const line of whole ? lines : []) {
    const begin = letters.indexOf(line, at);
    if (begin < 0) continue;
    at = begin + line.length;
    found.push([begin, at]);
  }
  return !passages.size && found.length === 2 ? [[found[0][0], found[1][1]]] : found;
};

/* Marks the passage in a page's text layer. */
const mark = (elements, passage) => {
  let letters = "";
  const places = [];  // of each letter: its node, and where in it its character begins and ends
  for (const node of elements.map((each) => each.firstChild).filter(Boolean)) {
    let at = 0;
    for (const character of node.data) {
      const letter = folded(character);
      for (let count = 0; count < letter.length; count += 1) places.push([node, at, at + character.length]);
      letters += letter;
      at += character.length;
    }
  }
  const parts = [];
  for (const [begin, end] of spans(letters, passage)) {
    for (const [node, from, to] of places.slice(begin, end)) {
      const last = parts.at(-1);
      if (last?.node === node && last.end === end) last.to = to;
      else parts.push({ node, from, to, end });
    }
  }
  for (const { node, from, to } of parts.reverse()) {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to + node.data.slice(to).match(/^[^\s\p{L}\p{N}]*/u)[0].length);  // with what closes it
    range.surroundContents(document.createElement("mark"));
  }
};

/* A page of the right size, which is empty until it is drawn. */
const place = async (pdf, number) => {
  const source = await pdf.getPage(number);
  const made = document.createElement("div");
  const scale = box.clientWidth / source.getViewport({ scale: 1 }).width;
  const viewport = source.getViewport({ scale });
  made.className = "pdf-page";
  made.dataset.page = number;
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", gettext("Page %(page)s", { page: number }));
  made.style.height = `${viewport.height}px`;
  made.style.setProperty("--total-scale-factor", scale);
  return { made, source, viewport };
};

const draw = async ({ TextLayer }, { made, source, viewport }) => {
  const canvas = document.createElement("canvas");
  const layer = document.createElement("div");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = viewport.width * ratio;
  canvas.height = viewport.height * ratio;
  layer.className = "textLayer";
  made.append(canvas, layer);
  const text = new TextLayer({ textContentSource: source.streamTextContent(), container: layer, viewport });
  await Promise.all([
    source.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] }).promise,
    text.render(),
  ]);
  mark(text.textDivs, passageOn(source.pageNumber));
};

const result = (shown) => {
  if (!ends.length) return "";
  const marked = [...new Set([...box.querySelectorAll("mark")].map((each) => each.closest(".pdf-page").dataset.page))];
  if (marked.length) {
    const pages = { pages: marked.join(", ") };
    return ngettext("The passage is marked on page %(pages)s.", "The passage is marked on pages %(pages)s.", marked.length, pages);
  }
  const hasText = box.querySelector(`[data-page="${shown}"] .textLayer`).textContent.trim();
  return hasText
    ? gettext("The passage can't be marked here: it was not found in the text of these pages.")
    : gettext("The passage can't be marked here: this page is a picture, without a text layer.");
};

const show = async (library, pdf, wanted) => {
  const turn = (show.turn = (show.turn || 0) + 1);
  const number = Math.min(Math.max(1, wanted), pdf.numPages);
  const numbers = [number - 1, number, number + 1].filter((each) => each >= 1 && each <= pdf.numPages);
  const places = await Promise.all(numbers.map((each) => place(pdf, each)));
  if (turn !== show.turn) return;
  show.number = number;
  position.textContent = gettext("Page %(page)s of %(pages)s", { page: number, pages: pdf.numPages });
  before.disabled = number === 1;
  after.disabled = number === pdf.numPages;
  const at = places[numbers.indexOf(number)];
  box.replaceChildren(...places.map((each) => each.made));
  const move = (to) => {
    const offset = to.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += offset - MARGIN;
  };
  move(at.made);
  for (const each of [at, ...places.filter((other) => other !== at)]) {
    await draw(library, each);
    if (turn !== show.turn) return;
    const [first] = each.made.querySelectorAll("mark");
    if (each === at && first) move(first);
  }
  status.textContent = result(number);
};

const begin = async () => {
  const failed = () => {
    status.textContent = gettext("The PDF can't be shown. Reload the page, or open or download the file.");
  };
  try {
    const library = await import(root.dataset.library);
    library.GlobalWorkerOptions.workerSrc = root.dataset.worker;
    const pdf = await load(library, failed);
    const go = (wanted) => show(library, pdf, wanted).catch(failed);
    before.addEventListener("click", () => go(show.number - 1));
    after.addEventListener("click", () => go(show.number + 1));
    await go(Number(root.dataset.page));
    let [width, waiting] = [box.clientWidth, 0];
    new ResizeObserver(() => {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      clearTimeout(waiting);
      waiting = setTimeout(() => go(show.number), 200);
    }).observe(box);
  } catch (error) {
    console.warn(error);
    failed();
  }
};
begin();
