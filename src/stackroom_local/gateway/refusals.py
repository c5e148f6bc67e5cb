"""
What is wrong with an access token, in words for whoever sent it, and how to get another.

They go into a header (RFC 6750, 3: no quotes and no backslash), and never say what a token says:
a forged one could put anything there.
"""

from collections.abc import Mapping

import jwt

from stackroom_local.gateway.issuer import ALGORITHM, Issuer

_HINT = "Sign in again, or get one by `stackroom login` or `stackroom token --user NAME`."
OF_ANOTHER_CLIENT = (
    "the access token was issued to a client that this gateway doesn't allow, or is an ID token, "
    f"which names no client. {_HINT}"
)
MALFORMED = "is malformed: it is no JSON Web Token"
_OF_ANOTHER_ISSUER = "comes from another issuer"
FORGED = "isn't signed by this issuer"
PROBLEMS: Mapping[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "has expired",
    jwt.ImmatureSignatureError: "is not valid yet",
    jwt.InvalidIssuerError: _OF_ANOTHER_ISSUER,
    jwt.InvalidAlgorithmError: f"isn't signed with {ALGORITHM}",
}


def problem_with(token: str, error: Exception, issuer: Issuer) -> str:
    """Why `jwt.decode` refused a token, by its error: a PyJWTError, or RecursionError."""
    return f"the access token {_problem(token, error, issuer)}. {_HINT}"


def _problem(token: str, error: Exception, issuer: Issuer) -> str:
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"lacks the claim {error.claim}"
    if isinstance(error, jwt.InvalidSignatureError):
        return _signature_problem(token, issuer)
    return next((told for kind, told in PROBLEMS.items() if isinstance(error, kind)), MALFORMED)


def _signature_problem(token: str, issuer: Issuer) -> str:
    """A stranger's token comes with a stranger's signature, and says itself whose it is."""
    try:
        unverified = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, RecursionError):  # the payload, which nobody has read so far
        return MALFORMED
    if unverified["payload"].get("iss") != issuer.url:
        return _OF_ANOTHER_ISSUER
    if unverified["header"].get("kid") != issuer.key_id:
        return f"{FORGED}: it names a key that the issuer hasn't, maybe one of before --fresh"
    return f"{FORGED}: its signature doesn't fit"
