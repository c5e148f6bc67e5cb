"""
Stackroom in a browser: one ASGI app, the same beside the local gateway and as a function on AWS.

Pages are written by the server (templates/), and say with htmx what of them is asked for anew;
what a browser alone can do is in static/. Every page calls the use cases that the tools call. Where
a new one belongs: a function in pages/, its template, and a line in `routes.py`, which says whom it
is for. Whose a thing is, is decided in the core by the caller's user id; another's is 404.
"""
