# SPDX-License-Identifier: Apache-2.0
"""TLS, through a relay that terminates it in front of the server."""
import asyncio
import os
import ssl
import subprocess
import tempfile
import unittest
from unittest import mock

import cairn

from .server import Relay, shared


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-python-")
        cls.addClassCleanup(scratch.cleanup)
        cls.certificate = os.path.join(scratch.name, "certificate")
        key = os.path.join(scratch.name, "key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-keyout", key, "-out", cls.certificate, "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        relay = Relay(shared().port, context)
        cls.addClassCleanup(relay.close)
        cls.url = f"https://localhost:{relay.port}"

    def test_calls_files_and_streams_work(self):
        content = os.urandom(2_000_000)
        context = ssl.create_default_context(cafile=self.certificate)
        with cairn.Cairn(self.url, ssl_context=context) as client:
            thread = client.threads.create()["id"]
            client.threads.files.upload(thread, "f", content)
            self.assertEqual(client.threads.files.download(thread, "f").read(), content)
            for transport in ("sse", "websocket"):
                with client.threads.events.follow(thread, transport=transport) as events:
                    self.assertEqual([next(events)["seq"] for _ in range(2)], [1, 2])

        async def main():
            async with cairn.AsyncCairn(self.url) as client:
                async with client.threads.files.download(thread, "f") as download:
                    self.assertEqual(await download.read(), content)
                for transport in ("sse", "websocket"):
                    async with client.threads.events.follow(
                            thread, transport=transport) as events:
                        self.assertEqual((await events.__anext__())["seq"], 1)
        with mock.patch.dict(os.environ, CAIRN_CA_FILE=self.certificate):
            asyncio.run(main())

    def test_a_certificate_that_is_not_trusted_is_told(self):
        with self.assertRaisesRegex(cairn.ConnectionFailed, "not trusted.*CAIRN_CA_FILE"):
            cairn.Cairn(self.url).health()

        async def main():
            async with cairn.AsyncCairn(self.url) as client:
                with self.assertRaisesRegex(cairn.ConnectionFailed, "not trusted"):
                    await client.health()
        asyncio.run(main())

    def test_plain_http_to_a_port_of_tls_is_told(self):
        with cairn.Cairn(self.url.replace("https", "http"), max_retries=0) as client:
            with self.assertRaises((cairn.NotCairn, cairn.ConnectionFailed)):
                client.health()


if __name__ == "__main__":
    unittest.main()
