"""openstacksdk against the API at argv[1]: each row of rest-api 10.2, one line `ok NAME` or `failed NAME: WHY`.

At the end `ran METHOD` for each method that was called of the proxy (`sdk`) and of the cloud layer (`cloud`), and `offered METHOD` for each that they have.
"""
import sys
import uuid

import openstack
from keystoneauth1 import noauth, session
from openstack import exceptions
from openstack.accelerator.v2 import _proxy
from openstack.cloud import _accelerator
from recorder import Recorded, offered, say

endpoint, image = sys.argv[1], sys.argv[2]


def connect(**headers):
    return openstack.connection.Connection(
        session=session.Session(auth=noauth.NoAuth(endpoint=endpoint), additional_headers=headers),
        accelerator_api_version="2",
        accelerator_default_microversion="2.3",
        accelerator_endpoint_override=endpoint,
        region_name="test",
    )


connection, trusted = connect(), connect(**{"X-Service-Roles": "service"})
sdk, cloud = Recorded("sdk", connection.accelerator), Recorded("cloud", connection)
service, service_cloud = Recorded("sdk", trusted.accelerator), Recorded("cloud", trusted)
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
device, first = devices[0], deployables[0]
name = "sdk-" + uuid.uuid4().hex[:8]
row("devices", lambda: len(devices) >= 1 and devices[0].hostname and devices[0].type in ("FPGA", "GPU"))
row("get_device", lambda: sdk.get_device(devices[0].id).id == devices[0].id)
row("get_device, unknown", lambda: refused(exceptions.NotFoundException, "could not be found", lambda: sdk.get_device(str(uuid.uuid4()))))
row("disable_device", lambda: sdk.disable_device(device.uuid) and sdk.get_device(device.uuid).status == "maintaining")
row("enable_device", lambda: sdk.enable_device(device.uuid) and sdk.wait_for_status(sdk.get_device(device.uuid), "enabled", interval=1, wait=20))
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
rp = next(d for d in connection.accelerator.get("/deployables").json()["deployables"] if d["uuid"] == first.id)["rp_uuid"]
bind = [
    {"op": "add", "path": "/hostname", "value": devices[0].hostname},
    {"op": "add", "path": "/device_rp_uuid", "value": rp},
    {"op": "add", "path": "/instance_uuid", "value": instance},
]
unbind = [{"op": "remove", "path": op["path"]} for op in bind]


def shown():
    return sdk.get_accelerator_request(arq.id)


def bound_by(call):
    return lambda: [call(arq.id, bind)] and shown().instance_uuid == instance and shown().hostname == devices[0].hostname


def unbound_by(call):
    return lambda: [call(arq.id, unbind)] and shown().instance_uuid is None


def settled():
    return sdk.wait_for_status(shown(), "Bound", failures=["BindFailed"], attribute="state", interval=1, wait=20)


for label, layer in (("patch_accelerator_request", sdk), ("bind_accelerator_request", cloud)):
    row(label + " without a service token", lambda: refused(exceptions.ForbiddenException, "requires a service token", lambda: getattr(layer, label)(arq.id, bind)))
for binding, unbinding in (
    (service.patch_accelerator_request, service.update_accelerator_request),
    (service.update_accelerator_request, service.patch_accelerator_request),
    (service_cloud.bind_accelerator_request, service_cloud.unbind_accelerator_request),
    (service_cloud.patch_accelerator_request, service_cloud.patch_accelerator_request),
):
    row("bind by %s" % binding.__name__, bound_by(binding))
    row("wait_for_status", settled)
    row("unbind by %s" % unbinding.__name__, unbound_by(unbinding))
row("a profile in use stays", lambda: refused(exceptions.ConflictException, "in use", lambda: sdk.delete_device_profile(name)))
row("delete_accelerator_request", lambda: [sdk.delete_accelerator_request(arq.id, ignore_missing=False)])
row("wait_for_delete", lambda: sdk.wait_for_delete(arq, interval=1, wait=20))
row("delete_accelerator_request, unknown", lambda: refused(exceptions.NotFoundException, arq.id, lambda: sdk.delete_accelerator_request(arq.id, ignore_missing=False)))

attribute = sdk.create_attribute(deployable_id=first.id, key=name, value="v")
row("create_attribute, by deployable uuid", lambda: attribute.key == name and isinstance(attribute.deployable_id, int))
row("attributes", lambda: attribute.id in [a.id for a in sdk.attributes()])
row("get_attribute", lambda: sdk.get_attribute(attribute.id).value == "v")
row("create_attribute, same key", lambda: refused(exceptions.ConflictException, name, lambda: sdk.create_attribute(deployable_id=attribute.deployable_id, key=name, value="v")))
row("delete_attribute", lambda: [sdk.delete_attribute(attribute.id, ignore_missing=False)])

program = [{"op": "replace", "path": "/program", "value": [{"image_uuid": image}]}]
row("patch_deployable", lambda: sdk.patch_deployable(first.id, program).id == first.id)
# it only calls itself, in every release that has it
row("update_deployable", lambda: refused(RecursionError, "recursion", lambda: sdk.update_deployable(first.id, program)))
row("delete_device_profile", lambda: [sdk.delete_device_profile(profile.id, ignore_missing=False)])
row("delete_device_profile, unknown", lambda: refused(exceptions.NotFoundException, name, lambda: sdk.delete_device_profile(name, ignore_missing=False)))

row("cloud.list_devices", lambda: [one.uuid for one in cloud.list_devices()] == [one.uuid for one in devices])
row("cloud.list_devices, filtered", lambda: {one.type for one in cloud.list_devices({"type": devices[0].type})} == {devices[0].type})
row("cloud.list_deployables", lambda: [one.id for one in cloud.list_deployables()] == [one.id for one in deployables])
row("cloud.create_device_profile", lambda: cloud.create_device_profile({"name": name, "groups": [{"resources:FPGA": "1"}]}).name == name)
row("cloud.list_device_profiles", lambda: name in [one.name for one in cloud.list_device_profiles()])
request = cloud.create_accelerator_request({"device_profile_name": name})
row("cloud.list_accelerator_requests", lambda: request.id in [one.id for one in cloud.list_accelerator_requests()])
row("cloud.delete_accelerator_request", lambda: cloud.delete_accelerator_request(request.id) and refused(exceptions.NotFoundException, "", lambda: sdk.get_accelerator_request(request.id)))
row("cloud.delete_device_profile, by name", lambda: cloud.delete_device_profile(name) and name not in [one.name for one in sdk.device_profiles()])
say(offered("sdk", _proxy.Proxy), offered("cloud", _accelerator.AcceleratorCloudMixin))
sys.exit(1 if failures else 0)
