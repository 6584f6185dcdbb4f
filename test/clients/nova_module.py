"""Nova's own client of the accelerator API (nova.accelerator.cyborg), every function, with tokens of a real Keystone: rest-api 10.1.

Run by the Python of Nova. Arguments: nova.conf, Keystone, a host, the UUIDs of two providers of FPGAs on it, a server without accelerators, and the URLs
of the API as a catalogue may have them. All is done with each of them, and with the first once more with a user token that has expired meanwhile.
"""
import datetime
import sys
import uuid

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3
from nova import config, context, exception, objects
from nova.accelerator import cyborg as module
from recorder import Recorded, offered, say

conf, keystone, host, provider, other, instance, *urls = sys.argv[1:]
PASSWORD, REGION = "rig-secret", "RegionOne"
# the token of an application credential ends with it
SHORT = datetime.timedelta(seconds=3)
config.parse_args(["nova", "--config-file", conf], default_config_files=[], configure_db=False, init_rpc=False)
objects.register_all()


def password(name, project):
    domain = {"user_domain_name": "Default", "project_domain_name": "Default"}
    return v3.Password(auth_url=keystone, username=name, password=PASSWORD, project_name=project, **domain)


def short_lived(auth):
    """A token of the same user that has expired when this returns."""
    signed, access = session.Session(auth=auth), auth.get_access(session.Session())
    until = (datetime.datetime.now(datetime.timezone.utc) + SHORT).replace(tzinfo=None).isoformat()
    credential = {"name": "short-" + uuid.uuid4().hex, "expires_at": until}
    credentials = "%s/users/%s/application_credentials" % (keystone, access.user_id)
    made = signed.post(credentials, json={"application_credential": credential}).json()["application_credential"]
    token = v3.ApplicationCredential(auth_url=keystone, application_credential_id=made["id"], application_credential_secret=made["secret"]).get_token(session.Session())
    try:
        while True:
            signed.get(keystone + "/auth/tokens", headers={"X-Subject-Token": token})
    except exceptions.NotFound:
        return token


def context_of(name, project, url, expired=False):
    """What Nova makes of a request: the token, and the catalogue as its middleware passes it on."""
    auth = password(name, project)
    access = auth.get_access(session.Session())
    token = short_lived(auth) if expired else access.auth_token
    catalog = [{"type": "accelerator", "name": "cyborg", "endpoints": [{"region": REGION, "internalURL": url, "publicURL": url}]}]
    return context.RequestContext(access.user_id, access.project_id, auth_token=token, service_catalog=catalog)


def fails(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError("%s expected of %s" % (kind.__name__, call.__name__))


cyborg = Recorded("module", module)
admin = session.Session(auth=password("admin", "admin"))
GROUPS = [{"resources:FPGA": "2"}, {"resources:FPGA": "1", "accel:note": "kept"}]
PLACED = [provider, provider, other]


class Walk:
    """What Nova does with a profile and a server, in the name of a tenant."""

    def __init__(self, url, expired):
        root = url.rstrip("/")
        self.profiles = "%s/device_profiles" % (root if root.endswith("/v2") else root + "/v2")
        self.name = "nova-" + uuid.uuid4().hex[:8]
        self.user = context_of("alpha-member", "alpha", url, expired)
        self.client = Recorded("client", cyborg.get_client(self.user))
        # who evacuates a server
        self.admin = Recorded("client", cyborg.get_client(context_of("admin", "admin", url)))

    def whole(self):
        admin.post(self.profiles, json=[{"name": self.name, "groups": GROUPS}])
        self.profile()
        first = self.create()
        self.second_bind(first)
        self.failed_build(self.evacuated(first))
        admin.delete("%s/%s" % (self.profiles, self.name))

    def profile(self):
        """The scheduler reads what to look for in Placement."""
        assert self.client.get_device_profile_groups(self.name) == GROUPS
        assert "got nothing" in fails(exception.DeviceProfileError, self.client.get_device_profile_groups, "no-such")
        wanted = cyborg.get_device_profile_request_groups(self.user, self.name, "port")
        assert [(group.requester_id, group.resources) for group in wanted] == [("device_profile_0port", {"FPGA": 2}), ("device_profile_1port", {"FPGA": 1})], wanted
        assert [group.requester_id for group in self.client.get_device_request_groups(GROUPS, None)] == ["device_profile_0", "device_profile_1"]
        assert cyborg.get_device_amount_of_dp_groups(GROUPS) == 3

    def built(self, client):
        """The conductor creates and binds; the UUIDs."""
        places = {cyborg.get_device_profile_group_requester_id(at, None): [of] for at, of in enumerate((provider, other))}
        arqs = client.create_arqs_and_match_resource_providers(self.name, places)
        assert [arq["device_rp_uuid"] for arq in arqs] == PLACED, arqs
        assert [client.get_arq_device_rp_uuid(arq, places, None) for arq in arqs] == PLACED
        client.bind_arqs({arq["uuid"]: {"hostname": host, "device_rp_uuid": arq["device_rp_uuid"], "instance_uuid": instance} for arq in arqs})
        return [arq["uuid"] for arq in arqs]

    def bound(self):
        """The compute reads what is bound, whether its event has come or not."""
        arqs = []
        while len(arqs) < len(PLACED):
            arqs = self.client.get_arqs_for_instance(instance, only_resolved=True)
        assert [(arq["state"], arq["attach_handle_type"], arq["hostname"]) for arq in arqs] == [("Bound", "PCI", host)] * len(PLACED), arqs
        assert sorted(arq["device_rp_uuid"] for arq in arqs) == sorted(PLACED)
        assert len({tuple(arq["attach_handle_info"].values()) for arq in arqs}) == len(PLACED), arqs
        return arqs

    def create(self):
        assert "no accelerator requests" in fails(exception.AcceleratorRequestOpFailed, self.client.get_arqs_for_instance, instance)
        made = self.built(self.client)
        self.bound()
        assert sorted(self.client.get_arq_uuids_for_instance(objects.Instance(uuid=instance))) == sorted(made)
        one = self.client.get_arq_by_uuid(made[2])
        assert (one["uuid"], one["instance_uuid"]) == (made[2], instance)
        fails(exception.AcceleratorRequestOpFailed, self.client.get_arq_by_uuid, str(uuid.uuid4()))
        info = one["attach_handle_info"]
        slot = "%(domain)s:%(bus)s:%(device)s.%(function)s" % info
        port = cyborg.get_arq_pci_device_profile({**one, "attach_handle_info": {**info, "physical_network": "net"}})
        assert port == {"physical_network": "net", "pci_slot": slot, "arq_uuid": made[2]}
        return made

    def second_bind(self, first):
        """It is refused while the server has accelerators, and Nova deletes what it could not bind."""
        spare = [arq["uuid"] for arq in self.client.create_arqs(self.name)]
        assert len(spare) == len(PLACED) and not {*spare} & {*first}
        wanted = {one: {"hostname": host, "device_rp_uuid": provider, "instance_uuid": instance} for one in spare}
        assert spare[0] in fails(exception.AcceleratorRequestBindingFailed, self.client.bind_arqs, wanted)
        self.client.delete_arqs_by_uuid(wanted.keys())
        for one in spare:
            fails(exception.AcceleratorRequestOpFailed, self.client.get_arq_by_uuid, one)

    def evacuated(self, first):
        """An administrator deletes by instance, and at once creates and binds for the same one. The tenant operates it afterwards."""
        self.admin.delete_arqs_for_instance(instance)
        fails(exception.AcceleratorRequestOpFailed, self.client.get_arqs_for_instance, instance)
        again = self.built(self.admin)
        assert not {*again} & {*first}
        self.bound()
        return again

    def failed_build(self, arqs):
        """Deleted by instance, by UUID although they are gone, and by instance once more."""
        self.client.delete_arqs_for_instance(instance)
        self.client.delete_arqs_by_uuid(arqs)
        self.client.delete_arqs_for_instance(instance)
        fails(exception.AcceleratorRequestOpFailed, self.client.create_arqs, "no-such")


for url, expired in [*((one, False) for one in urls), (urls[0], True)]:
    Walk(url, expired).whole()
    print("walked", url, "with an expired token" if expired else "")
say(offered("module", module), offered("client", module._CyborgClient))
