"""`openstack accelerator ...` against the API at argv[1]: rows of rest-api 10.3, in one process, one line a row."""
import contextlib
import io
import json
import sys
import uuid

from openstackclient import shell

endpoint, image = sys.argv[1], sys.argv[2]
failures = 0


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = shell.main(["--os-auth-type", "none", "--os-endpoint", endpoint, "--os-accelerator-api-version", "2.3", "accelerator", *words])
    return status, out.getvalue(), err.getvalue()


def row(words, expected=0, has=""):
    global failures
    status, out, err = run(*words)
    well = (status == 0) == (expected == 0) and has in out + err
    failures += 0 if well else 1
    print("ok" if well else "failed", " ".join(words[:3]), "" if well else (status, out, err))
    return out


def listed(*words):
    return json.loads(row([*words, "-f", "json"]))


name = "cli-" + uuid.uuid4().hex[:8]
devices = listed("device", "list")
deployables = listed("deployable", "list")
row(["device", "list", "--long"], has=devices[0]["hostname"])
row(["device", "show", devices[0]["uuid"]], has=devices[0]["uuid"])
row(["device", "show", str(uuid.uuid4())], expected=1)
row(["deployable", "list", "--long"], has=deployables[0]["name"])
row(["deployable", "show", deployables[0]["uuid"]], has=deployables[0]["name"])
row(["device", "profile", "create", name, '[{"resources:FPGA": "1"}]'], has=name)
row(["device", "profile", "create", name, '[{"resources:FPGA": "1"}]'], expected=1, has=name)
row(["device", "profile", "list"], has=name)
row(["device", "profile", "list", "--long"], has=name)
row(["device", "profile", "show", name], has=name)
row(["arq", "create", name], has="Initial")
arq = [one for one in listed("arq", "list") if one["device_profile_name"] == name][0]["uuid"]
row(["arq", "list", "--long"], has=arq)
row(["arq", "show", arq], has="Initial")
row(["arq", "unbind", arq], expected=1, has="service token")
row(["arq", "delete", arq])
row(["arq", "show", arq], expected=1)
row(["device", "attribute", "create", deployables[0]["uuid"], name, "v"], has=name)
attribute = [one for one in listed("device", "attribute", "list") if one["key"] == name][0]["uuid"]
row(["device", "attribute", "show", attribute], has=name)
row(["device", "attribute", "delete", attribute])
row(["device", "profile", "delete", name])
row(["device", "profile", "show", name], expected=1)
sys.exit(1 if failures else 0)
