"""Texts that would act, if a page took any of them for more than text."""

# Each asks for an address, or calls a function, of this name: tests/browser/alarms.py listens.
NAME = "attacked"

PAYLOADS = {
    "a script": "<script>attacked(1)</script>",
    "a script after the end of a text": "</title></textarea></script><script>attacked(2)</script>",
    "an image": '"><img src="/attacked" onerror="attacked(3)">',
    "a drawing": "'><svg onload=attacked(4)>",
    "a quoted handler": '" autofocus onfocus="attacked(5)" x="',
    "a handler in single quotes": "' autofocus onfocus='attacked(6)' x='",
    "an unquoted handler": "x autofocus onfocus=attacked(7) ",
    "an address of a script": "javascript:attacked(8)",
    "an address in disguise": "JaVa\tScRiPt&colon;attacked(9)",
    "a link": '<a href="javascript:attacked(10)" id="main">Click here</a>',
    "a template's expression": "{{ 1337 * 7 }}{% include 'base.html' %}${1337*7}<%= 1337*7 %>",
    "htmx": '<div hx-get="/attacked" hx-trigger="load"></div>',
    "htmx in data": '<div data-hx-get="/attacked" data-hx-trigger="load"></div>',
    "htmx's handlers": '<div hx-on::load="attacked(12)" hx-on:htmx:load="attacked(13)"></div>',
    "htmx's values": '<div hx-get="/attacked" hx-trigger="load" hx-vals="js:{a: attacked(14)}">',
    "a frame": '<iframe srcdoc="<script>parent.attacked(15)</script>"></iframe>',
    "another base": '<base href="/attacked/"><meta http-equiv="refresh" content="0;url=/attacked">',
    "a style": "<style>@import '/attacked';</style><link rel=stylesheet href=/attacked>",
    "what a parser moves": "<math><mtext><table><mglyph><style><!--</style><img src=/attacked>",
    "a form's end": '</form><form action="/attacked"><button autofocus>Sign in</button>',
    "a shadow": '<p><template shadowrootmode="open"><img src="/attacked"></template>',
    "a comment's end": "--><img src=/attacked><!--",
    "a data section's end": "]]><img src=/attacked>",
    "a writing from right to left": "invoice\u202etxt.exe\u2066<img src=/attacked>",
    "what folds to brackets": "\uff1cscript\uff1eattacked(16)\uff1c/script\uff1e\ufe64img\ufe65",
}
