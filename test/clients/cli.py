"""All commands of `openstack accelerator` at the API: rest-api 10.3.

Arguments: the module of the commands (`openstackclient` or `cyborgclient`), the API, the same API for callers with a service token, an image.
"""
import json
import sys
import urllib.request
import uuid

from command_line import OFFERED, CommandLine, end

module, endpoint, trusted, image = sys.argv[1:]
OWN = module == "openstackclient"
assert all(place.startswith(module + ".") for place in OFFERED.values()), OFFERED


def at(url, version="2.3"):
    return CommandLine("--os-auth-type", "none", "--os-endpoint", url, "--os-accelerator-api-version", version)


def unknown():
    return str(uuid.uuid4())


cli, service = at(endpoint), at(trusted)
names = ["cli-" + uuid.uuid4().hex[:8] for _ in range(3)]
name = names[0]
GROUPS = '[{"resources:FPGA": 1, "trait:CUSTOM_FPGA_XILINX": "required"}]'
FPGA = '[{"resources:FPGA": "1"}]'

devices = cli.listed("device", "list", "--long")
device = next(one for one in devices if one["type"] == "FPGA")
cli.row("device", "list", has=[one["uuid"] for one in devices])
cli.row("device", "show", device["uuid"], has=[device["uuid"], device["hostname"], "enabled"])
cli.row("device", "show", unknown(), expected=1, has="not found" if not OWN else "could not be found")
cli.row("device", "disable", device["uuid"])
cli.row("device", "show", device["uuid"], has="maintaining")
cli.row("device", "enable", device["uuid"])
cli.row("device", "show", device["uuid"], has="enabled")

deployables = cli.listed("deployable", "list", "--long")
deployable = next(one for one in deployables if one["name"].startswith(device["hostname"]))
cli.row("deployable", "list", has=[one["uuid"] for one in deployables])
cli.row("deployable", "show", deployable["uuid"], has=[deployable["uuid"], deployable["name"]])
cli.row("deployable", "show", unknown(), expected=1)
# without an image service the own command stops there; the other one never sends anything. A real Glance: test/cloud/program.test.ts
cli.row("deployable", "program", deployable["uuid"], image, expected=1, has="image not found" if OWN else "maximum recursion depth")
cli.row("deployable", "program", unknown(), image, expected=1)

cli.row("device", "profile", "create", name, GROUPS, "--description", "two words", has=[name, "two words", "'resources:FPGA': '1'"])
for other in names[1:]:
    cli.row("device", "profile", "create", other, FPGA, has=other)
cli.row("device", "profile", "create", name, FPGA, expected=1, has=name)
cli.row("device", "profile", "create", "cli-none", "[]", expected=1)
if OWN:
    cli.row("device", "profile", "create", "cli-grouped-" + name, "--group", "resources:FPGA=1,trait:CUSTOM_A=required", has="CUSTOM_A")
    cli.row("device", "profile", "delete", "cli-grouped-" + name)
profile = cli.listed("device", "profile", "show", name)["uuid"]
cli.row("device", "profile", "list", has=names)
cli.row("device", "profile", "list", "--long", has=[*names, "two words", "created_at"])
cli.row("device", "profile", "show", profile, has=[name, "two words"])
cli.row("device", "profile", "show", unknown(), expected=1, has="not found" if not OWN else "could not be found")
at(endpoint, "2.0").row("device", "profile", "show", name, expected=1)

made = [cli.listed("arq", "create", names[1], *options) for options in ([], ["--group-id", "0"], ["--image-uuid", image])]
assert [arq["state"] for arq in made] == ["Initial"] * 3 and {arq["device_profile_name"] for arq in made} == {names[1]}, made
first, *others = [arq["uuid"] for arq in made]
cli.row("arq", "create", "no-such-profile", expected=1, has="no-such-profile")
cli.row("arq", "list", has=[first, *others])
cli.row("arq", "list", "--long", has=[first, "device_rp_uuid"])
cli.row("arq", "show", first, has=[first, "Initial", names[1]])
cli.row("arq", "show", unknown(), expected=1)

instance, host = unknown(), device["hostname"]
if OWN:
    # it looks the server up in Nova first: test/nova/clients.ts
    service.row("arq", "bind", first, host, instance, unknown(), expected=1, has="/servers/")
    service.row("arq", "unbind", first, has=first)
else:
    # Placement tells an administrator this UUID, no command of the client does
    with urllib.request.urlopen("%s/deployables/%s" % (endpoint, deployable["uuid"])) as answer:
        provider = json.load(answer)["rp_uuid"]
    bind = ["arq", "bind", first, host, instance, provider, "a-project"]
    cli.row(*bind, expected=1, has="requires a service token")
    service.row(*bind, has=[first, host, instance, provider])
    state = None
    while state not in ("Bound", "BindFailed"):
        state = cli.listed("arq", "show", first)["state"]
    cli.row("arq", "show", first, has=["Bound", "PCI", "domain"])
    cli.row("arq", "delete", first, expected=1, has="service token")
    cli.row("device", "profile", "delete", names[1], expected=1, has="in use")
    service.row("arq", "unbind", first, has=[first, "Unbound"])
cli.row("arq", "unbind", first, expected=1, has="requires a service token")
cli.row("arq", "delete", first, unknown(), others[0], expected=1)
left = [arq["uuid"] for arq in cli.listed("arq", "list")]
assert first not in left and others[0] not in left and others[1] in left, left
cli.row("arq", "delete", others[1])
cli.row("arq", "show", first, expected=1)

for key in names:
    cli.row("device", "attribute", "create", deployable["uuid"], key, "v", has=[key, "v"])
cli.row("device", "attribute", "create", deployable["uuid"], name, "v", expected=1, has=name)
attributes = [one["uuid"] for one in cli.listed("device", "attribute", "list") if one["key"] in names]
assert len(attributes) == len(names), attributes
cli.row("device", "attribute", "list", "--long", has=[*attributes, "created_at"])
cli.row("device", "attribute", "show", attributes[0], has=attributes[0])
cli.row("device", "attribute", "show", unknown(), expected=1)
cli.row("device", "attribute", "delete", *attributes)
cli.row("device", "attribute", "delete", attributes[0], expected=1)

cli.row("device", "profile", "delete", names[0], names[1])
cli.row("device", "profile", "delete", names[0], expected=1, has=names[0])
cli.row("device", "profile", "delete", names[2])
assert not [one for one in cli.listed("device", "profile", "list") if one["name"] in names]
end()
