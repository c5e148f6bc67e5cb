"""
What API Gateway's HTTP API leaves the console on AWS; it keeps to that everywhere.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
"""

# Bytes of a request's line and all values of its headers together. Cookies are the most of them: a
# session (sealing.MAX_COOKIE), and a sign-in under way, which says where it leads
# (own_paths.LONGEST). tests/console/test_headers.py adds up the most that browsers send.
MAX_HEADERS = 10_240

# Of seconds. An HTTP API waits 30 of them for its function, the function's start included, and then
# answers 503 in words of its own. So each request is answered well before; infra/console_api.py has
# the function's time, and tests/infra holds the two together.
ANSWERED_WITHIN = 22.0
FOR_A_START = 5.0  # that a function needs from cold, before it looks at a request
FOR_A_PAGE = 2.0  # to make one of what was found
FOR_A_STEP = 6.0  # of what takes many, such as to delete a large catalog; somebody looks on
