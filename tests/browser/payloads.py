"""Texts by people or models that try to make a page do something."""

# Each asks for an address, or calls a function, of this name, which an `Alarm` hears.
ATTACK = "attacked"

PAYLOADS = {
    "a script": "<script>attacked(1)</script>",
    "an image": '"><img src="/attacked" onerror="attacked(3)">',
    "a drawing": "'><svg onload=attacked(4)>",
    "a quoted handler": '" autofocus onfocus="attacked(5)" x="',
    "an address of a script": "javascript:attacked(8)",
    "a link": '<a href="javascript:attacked(10)" id="main">Click here</a>',
    "a template's expression": "{{ 1337 * 7 }}{% include 'base.html' %}${1337*7}<%= 1337*7 %>",
    "htmx": '<div hx-get="/attacked" hx-trigger="load"></div>',
    "htmx's handlers": '<div hx-on::load="attacked(12)" hx-on:htmx:load="attacked(13)"></div>',
    "htmx's values": '<div hx-get="/attacked" hx-trigger="load" hx-vals="js:{a: attacked(14)}">',
    "a frame": '<iframe srcdoc="<script>parent.attacked(15)</script>"></iframe>',
    "another base": '<base href="/attacked/"><meta http-equiv="refresh" content="0;url=/attacked">',
    "what a parser moves": "<math><mtext><table><mglyph><style><!--</style><img src=/attacked>",
    "a form's end": '</form><form action="/attacked"><button autofocus>Sign in</button>',
    "a shadow": '<p><template shadowrootmode="open"><img src="/attacked"></template>',
    "a writing from right to left": "invoice\u202etxt.exe\u2066<img src=/attacked>",
    "what folds to brackets": "\uff1cscript\uff1eattacked(16)\uff1c/script\uff1e\ufe64img\ufe65",
    "Markdown's links": "[a](javascript:attacked(17)) <javascript:attacked(18)> [b](/attacked)",
    "Markdown's image": '![a](/attacked "b") [![c](/attacked)](data:text/html,attacked(19))',
}
