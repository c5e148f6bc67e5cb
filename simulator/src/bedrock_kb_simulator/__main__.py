"""
`python -m bedrock_kb_simulator --port P --data-dir D --s3-endpoint URL`

It answers whoever signs with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as they are where it
starts, or with a key that follows from them (bedrock_kb_simulator.access_keys).
"""

import argparse
import contextlib
import logging
import os
from pathlib import Path


def main() -> None:
    options = _options()
    # Imported here because `--help` answers at once.
    from bedrock_kb_simulator.access_keys import RootKey  # noqa: PLC0415
    from bedrock_kb_simulator.assumptions import Assumptions  # noqa: PLC0415
    from bedrock_kb_simulator.model_endpoint import ModelEndpoint  # noqa: PLC0415
    from bedrock_kb_simulator.server import (  # noqa: PLC0415
        Configuration,
        create_app,
        listening,
        server_of,
    )

    logging.basicConfig(level=logging.WARNING)
    listener = listening(options.port)
    app = create_app(
        Configuration(
            data_dir=options.data_dir,
            s3_endpoint=options.s3_endpoint,
            speed=options.speed,
            region=options.region,
            account=options.account,
            root_key=RootKey.of_environment(),
            model=ModelEndpoint.of(os.environ),
            assumptions=Assumptions(
                managed_jobs_in_account=options.managed_jobs_in_account,
                managed_starts_rated=not options.unrated_managed_starts,
                s3_vectors_take_in=not options.refuse_in,
                custom_documents_tell_source=not options.omit_source_uri,
            ),
        )
    )
    with contextlib.suppress(KeyboardInterrupt):  # raised again once everything is closed
        server_of(app).run(sockets=[listener])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bedrock_kb_simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--s3-endpoint", required=True, help="where the documents' bucket is")
    parser.add_argument("--speed", type=float, default=1.0, help="AWS seconds per real second")
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--account", default="000000000000")
    parser.add_argument(
        "--managed-jobs-in-account",
        action="store_true",
        help="count jobs of managed knowledge bases among the 5 of an account",
    )
    parser.add_argument(
        "--unrated-managed-starts",
        action="store_true",
        help="StartIngestionJob of managed knowledge bases has no rate",
    )
    parser.add_argument(
        "--refuse-in",
        action="store_true",
        help="filters with in and notIn are refused on S3 Vectors, as one user saw it",
    )
    parser.add_argument(
        "--omit-source-uri",
        action="store_true",
        help="documents of CUSTOM data sources lack x-amz-bedrock-kb-source-uri, as was measured",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
