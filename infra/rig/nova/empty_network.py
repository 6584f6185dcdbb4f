"""A network service without any network: Nova asks for ports and security groups even when a server has no network.

Every GET of a collection answers with an empty one, everything else with 404. Argument: the port to listen on.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class EmptyNetwork(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        steps = [step for step in urlsplit(self.path).path.removesuffix(".json").split("/") if step]
        if len(steps) < 2:
            here = f"http://{self.headers['Host']}/v2.0/"
            self.answer(200, {"versions": [{"id": "v2.0", "status": "CURRENT", "links": [{"rel": "self", "href": here}]}]})
        elif len(steps) == 2:
            self.answer(200, {steps[1].replace("-", "_"): []})
        else:
            self.refuse()

    def refuse(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(404, {"NeutronError": {"type": "NotFound", "message": "there is no network here", "detail": ""}})

    do_POST = do_PUT = do_DELETE = refuse

    def answer(self, status, body):
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), EmptyNetwork).serve_forever()
