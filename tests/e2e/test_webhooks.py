"""A receiver on this machine gets webhooks from the queue through the deployed function."""

import base64
import hmac
import json

from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.catalogs.webhooks import WebhookCall
from stackroom_local.state import Instance
from tests.e2e.people import eventually
from tests.local.running import stackroom
from tests.support.webhook_receivers import receiving


def test_webhooks_of_a_record_arrive_in_order_despite_failures(
    instance: Instance,
) -> None:
    sqs = instance.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{instance.project}-webhooks.fifo")["QueueUrl"]
    queue = SqsWebhookQueue(client=sqs, url=url)

    with receiving() as receiver:
        receiver.statuses = [500, 503, 200]
        said = stackroom(
            *("webhooks", "add", receiver.url, "--user", "wilma", "--json"),
            state_dir=instance.state_dir,
        )
        added = json.loads(said.stdout)
        for number in (1, 2, 3):
            event = {"id": f"event-{number}", "detail": {"user_id": "wilma"}}
            queue.put(
                WebhookCall(webhook_id=added["webhook"]["id"], event=event), record="document"
            )
        eventually(lambda: len(receiver.got) >= 5, "all are told")

    assert [headers["webhook-id"] for headers, _ in receiver.got] == [
        *["event-1"] * 3,
        "event-2",
        "event-3",
    ]
    key = base64.b64decode(added["secret"].removeprefix("whsec_"))
    for headers, body in receiver.got:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
        assert headers["webhook-signature"] == f"v1,{signature}"
