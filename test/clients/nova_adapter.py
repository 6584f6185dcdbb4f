"""A keystoneauth adapter set up as Nova sets it up, against catalogue URL argv[1]: the sequences of rest-api 10.1. Never raises on status."""
import sys
import uuid

from keystoneauth1 import adapter, noauth, session

cyborg = adapter.Adapter(
    session=session.Session(auth=noauth.NoAuth(endpoint=sys.argv[1])),
    service_type="accelerator",
    raise_exc=False,
    additional_headers={"X-Service-Roles": "service"},
)


def call(method, url, expected, **arguments):
    answer = getattr(cyborg, method)(url, **arguments)
    assert answer.status_code == expected, "%s %s: %s %s" % (method, url, answer.status_code, answer.text)
    return answer


def by_instance(instance):
    return call("get", "/accelerator_requests", 200, params={"instance": instance}).json()["arqs"]


def bind(name, instance, host, rp):
    arqs = call("post", "/accelerator_requests", 201, json={"device_profile_name": name}).json()["arqs"]
    values = {"/hostname": host, "/device_rp_uuid": rp, "/instance_uuid": instance}
    ops = [{"path": path, "op": "add", "value": value} for path, value in values.items()]
    call("patch", "/accelerator_requests", 202, json={arq["uuid"]: ops for arq in arqs})
    return arqs


name = "nova-" + uuid.uuid4().hex[:8]
group = {"resources:FPGA": "2"}
call("post", "/device_profiles", 201, json=[{"name": name, "groups": [group]}])
found = call("get", "/device_profiles", 200, params={"name": name}).json()["device_profiles"]
assert len(found) == 1 and found[0]["groups"] == [group]
assert call("get", "/device_profiles", 200, params={"name": "no-such"}).json()["device_profiles"] == []
deployable = call("get", "/deployables", 200).json()["deployables"][0]
host = call("get", "/devices", 200).json()["devices"][0]["hostname"]
instance = str(uuid.uuid4())

# create, start: all bound, with what libvirt reads
arqs = bind(name, instance, host, deployable["rp_uuid"])
deadline = 200
while any(arq["state"] == "BindStarted" for arq in by_instance(instance)) and deadline:
    deadline -= 1
bound = by_instance(instance)
assert [arq["state"] for arq in bound] == ["Bound", "Bound"], bound
assert all(set("domain bus device function".split()) <= set(arq["attach_handle_info"]) for arq in bound)
resolved = call("get", "/accelerator_requests", 200, params={"instance": instance, "bind_state": "resolved"}).json()["arqs"]
assert sorted(arq["uuid"] for arq in resolved) == sorted(arq["uuid"] for arq in arqs)

# evacuate: delete by instance, then create and bind at once for the same instance
call("delete", "/accelerator_requests", 204, params={"instance": instance})
assert by_instance(instance) == []
again = bind(name, instance, host, deployable["rp_uuid"])

# failed build: delete by instance, then by uuids, of which one is unknown
call("delete", "/accelerator_requests", 204, params={"instance": instance})
call("delete", "/accelerator_requests", 404, params={"arqs": again[0]["uuid"]})
call("delete", "/accelerator_requests", 204, params={"instance": instance})
call("delete", "/device_profiles/" + name, 204)
print("ok")
