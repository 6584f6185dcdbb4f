"""openstacksdk against the API at argv[1]: each row of rest-api 10.2, one line `ok NAME` or `failed NAME: WHY`."""
import sys
import uuid

import openstack
from keystoneauth1 import noauth, session
from openstack import exceptions

endpoint, image = sys.argv[1], sys.argv[2]
connection = openstack.connection.Connection(
    session=session.Session(auth=noauth.NoAuth(endpoint=endpoint)),
    accelerator_api_version="2",
    accelerator_default_microversion="2.3",
    accelerator_endpoint_override=endpoint,
    region_name="test",
)
sdk = connection.accelerator
failures = 0


def row(name, check):
    global failures
    try:
        assert check() is not False, "unexpected answer"
        print("ok", name)
    except Exception as error:  # whatever the library raises is the finding
        failures += 1
        print("failed %s: %s: %s" % (name, type(error).__name__, error))


def refused(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
        return True
    raise AssertionError("%s expected" % kind.__name__)


devices = list(sdk.devices())
deployables = list(sdk.deployables())
first = deployables[0]
name = "sdk-" + uuid.uuid4().hex[:8]
row("devices", lambda: len(devices) >= 1 and devices[0].hostname and devices[0].type in ("FPGA", "GPU"))
row("get_device", lambda: sdk.get_device(devices[0].id).id == devices[0].id)
row("get_device, unknown", lambda: refused(exceptions.NotFoundException, "could not be found", lambda: sdk.get_device(str(uuid.uuid4()))))
row("deployables", lambda: len(deployables) >= 1 and first.num_accelerators >= 1)
row("deployables, paged by one", lambda: [d.id for d in sdk.deployables(limit=1)] == [d.id for d in deployables])
row("get_deployable", lambda: sdk.get_deployable(first.id).name == first.name)

profile = sdk.create_device_profile(name=name, groups=[{"resources:FPGA": "1"}], description="d")
row("create_device_profile", lambda: profile.name == name and profile.groups == [{"resources:FPGA": "1"}])
row("device_profiles", lambda: name in [p.name for p in sdk.device_profiles()])
row("get_device_profile, by uuid", lambda: sdk.get_device_profile(profile.id).name == name)
row("get_device_profile, by name", lambda: sdk.get_device_profile(name).groups == profile.groups)
row("a taken name is told", lambda: refused(exceptions.ConflictException, name, lambda: sdk.create_device_profile(name=name, groups=[{"resources:FPGA": "1"}])))

arq = sdk.create_accelerator_request(device_profile_name=name)
row("create_accelerator_request", lambda: arq.state == "Initial" and arq.device_profile_name == name)
row("accelerator_requests", lambda: arq.id in [a.id for a in sdk.accelerator_requests()])
row("get_accelerator_request", lambda: sdk.get_accelerator_request(arq.id).id == arq.id)

instance = str(uuid.uuid4())
rp = next(d for d in sdk.get("/deployables").json()["deployables"] if d["uuid"] == first.id)["rp_uuid"]
bind = [
    {"op": "add", "path": "/hostname", "value": devices[0].hostname},
    {"op": "add", "path": "/device_rp_uuid", "value": rp},
    {"op": "add", "path": "/instance_uuid", "value": instance},
]
unbind = [{"op": "remove", "path": op["path"]} for op in bind]
path = "/accelerator_requests/" + arq.id
row("a bind without service token is refused", lambda: "requires a service token" in sdk.patch(path, json={arq.id: bind}, raise_exc=False).text)
SERVICE = {"X-Service-Roles": "service"}
row("bind", lambda: sdk.patch(path, json={arq.id: bind}, headers=SERVICE).status_code == 202)
row("the bound one is read", lambda: sdk.get_accelerator_request(arq.id).instance_uuid == instance)
row("unbind", lambda: sdk.patch(path, json={arq.id: unbind}, headers=SERVICE).status_code == 202)
row("a profile in use stays", lambda: refused(exceptions.ConflictException, "in use", lambda: sdk.delete_device_profile(name)))
row("delete_accelerator_request", lambda: [sdk.delete_accelerator_request(arq.id, ignore_missing=False)])
row("delete_accelerator_request, unknown", lambda: refused(exceptions.NotFoundException, arq.id, lambda: sdk.delete_accelerator_request(arq.id, ignore_missing=False)))

attribute = sdk.create_attribute(deployable_id=first.id, key=name, value="v")
row("create_attribute, by deployable uuid", lambda: attribute.key == name and isinstance(attribute.deployable_id, int))
row("attributes", lambda: attribute.id in [a.id for a in sdk.attributes()])
row("get_attribute", lambda: sdk.get_attribute(attribute.id).value == "v")
row("create_attribute, same key", lambda: refused(exceptions.ConflictException, name, lambda: sdk.create_attribute(deployable_id=attribute.deployable_id, key=name, value="v")))
row("delete_attribute", lambda: [sdk.delete_attribute(attribute.id, ignore_missing=False)])

program = [{"op": "replace", "path": "/program", "value": [{"image_uuid": image}]}]
row("patch_deployable", lambda: sdk.patch_deployable(first.id, program).id == first.id)
row("delete_device_profile", lambda: [sdk.delete_device_profile(profile.id, ignore_missing=False)])
sys.exit(1 if failures else 0)
