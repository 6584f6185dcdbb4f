/** The page about drivers and the cards that they know, printed from the code. */
import { KNOWN_CARDS } from '../src/drivers/cards/knownCards.ts'
import { DRIVER_FACTS } from '../src/drivers/catalogue.ts'
import { HEALTH_RULES, QUANTITIES } from '../src/health.ts'
import { DRIVER_NAMES } from '../src/drivers/index.ts'
import { VENDOR_NAMES } from '../src/vendors.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

const INTRODUCTION = `# Drivers

Reference. A host program looks at its machine with the drivers in \`enabled_drivers\`. Without any service, this prints what each of them finds, what Placement would be
told of it, and what is left out and why:

    accelerando device scan

\`accelerando device record DIR\` writes what the drivers read of the machine to a folder, without serial numbers, and \`accelerando device scan --from DIR\` shows the
recorded machine anywhere else. Every provider in Placement has the trait \`OWNER_CYBORG\` beside those that are named here. All decisions are made by numbers (PCI
ids and classes); names come from the \`pci.ids\` of the host, where it has one, and are for people only.

A host program reports its inventory every \`host.report_every_seconds\`, and at once when the kernel says that a device was plugged in, pulled out or divided, if \`udevadm\` is installed. A driver
that fails is shown with its error under its host (\`GET /v2/hosts\`, \`accelerando hosts\`); what it showed before stays as it is until it works again.
\`accelerando doctor --hardware\` says on a host whether what its drivers find can be passed on to guests: IOMMU and its groups, vfio-pci, huge pages.

**None of these drivers was ever run on its real card.** The last column says on what they were tried.

`

const OPERATORS = `
## Cards that the drivers do not know

An operator adds cards in a file that \`cards.id_table\` names, in YAML or JSON. A row replaces the row of the table with the same ids:

    - vendor: 1af4            # four hex digits
      device: 1044
      type: AICHIP            # GPU, FPGA, AICHIP, QAT, NIC or SSD
      name: Example NPU
      family: example         # optional: a trait CUSTOM_AICHIP_<vendor>_EXAMPLE
      rc: CUSTOM_NPU          # optional: the resource class
      traits: [CUSTOM_FAST]   # optional: further traits
      class: 12               # optional: the first digits of the PCI class
      driver: id_table_driver # optional: or huawei_ascend_driver, intel_qat_driver, intel_nic_driver, intel_fpga_driver

\`id_table_driver\` offers every card of the table below that has it in the last column, and those of the file.

Whether a PCI function is given to guests is judged by one rule for all drivers, when they look and once more at each bind. What is left out is named with its reason by \`accelerando device scan\`:

* a function with virtual functions, whatever driver offers these: it would take them along. \`"mode": "pf"\` of a
  whitelist entry offers it all the same. Virtual functions of NVIDIA GPUs are offered as vGPUs only (\`gpu_devices.device_addresses\`), never as whole GPUs;
* a card of which somebody has a part: a mediated device, or a vGPU that was made by hand or by Nova;
* what this machine needs: drives and network cards in use, disk and USB controllers with a drive or an adapter in use,
  a GPU with a connected display or the console, and the functions that manage NVLink on HGX boards;
* the management function of an Alveo card, also where a whitelist entry takes it, unless \`fpga.alveo_management\` is
  on;
* what cannot reach a guest: a bridge to other buses, a function in a PCI domain above ffff (drives behind Intel VMD),
  and one that shares its
  IOMMU group with a function that this machine uses, as a GPU whose audio function has its sound driver. Bind the others to vfio-pci, and it is offered with the next look. A machine whose IOMMU is off is not judged by groups.

A function that a process has opened through vfio-pci, or any driver of that family, stays offered, since it may be the guest that was given it, and no other request gets it.

An NVMe drive is left out, by every driver, while this machine uses it: mounted, as swap, or in a volume or a pool (md, LVM, btrfs, ZFS). It is opened for that, without reading
any of it, so the host program must be able to open it below \`/dev\`: a drive that cannot be opened is left out too. \`accelerando device scan\` says which, and why. While the host cleans an offered drive, it is not looked at and
stays offered; a guest gets it only after a look.

A network card is left out, by every driver, while the default route of this machine leads through it, or while it belongs to a bridge, a bond, a VLAN or a switch of this
machine (\`/sys/class/net/<interface>/upper_*\`), as in Open vSwitch, wherever the routes lead. A host program that does not see the network of its machine, as in a container, cannot tell, and leaves out every network card that has
an interface; with the Helm chart, \`host.hostNetwork\` lets it see that network.

## Network cards for Neutron

A port of Neutron names a physical network, and Nova asks the attach handle for it. \`intel_nic_driver\` and \`pci_driver\` hand it on, of cards of all vendors: by \`nic_devices.physical_device_mappings\`, which names the interface
of the physical function, or with \`pci_driver\` by \`physical_network\` of the whitelist entry (with \`"device_type": "NIC"\`), which comes first. Both add the trait \`CUSTOM_<physical network>\`. \`intel_nic_driver\` offers the
virtual functions of a card, or the whole card where it has none. But for X710, XXV710 and E810, which it always took, it offers only cards that a mapping names: the host may need others itself, or Nova may give their functions
away. The cards that the table below gives to \`id_table_driver\` are offered whole by that one, and their virtual functions by \`intel_nic_driver\`.
`

const MEASURED = `
## What is measured, and when a device is bad

A host measures its devices every \`host.measure_every_seconds\`: of each PCI function its error counters (AER), the sensors of its kernel driver (hwmon) and the state of its link; GPUs also with
\`nvidia-smi\`, Ascend NPUs with \`npu-smi\`. A virtual function has counters of its own; devices are measured at the function that names them. A device that a guest has shows what the kernel counts, and no sensors.
What the tool of a vendor says counts whatever its exit status is: a card is bad that it names in an error, of which it says a word such as \`[GPU is lost]\` or \`ERR!\` in place of a number, or that it
listed and lists no more while the same kernel driver serves it; what the tool said of it stands in the log of the host and in its reading. Where all cards of a driver are kept for guests (\`vfio\`), the tool is not asked.
The kernel shows a card that has fallen off its bus as before, and cannot read the counters of one behind a broken link. So a host looks whether the configuration space of each card answers, when it looks for
devices and when it measures them, and counts the fatal errors of the ports above a card, where no other device is below them.
A bad device is not offered until three readings in a row find it well; a warning is only shown. A reading finds it well only if it tells the quantity by which the device was bad: while
\`nvidia-smi\` or \`npu-smi\` fails, is missing, or does not see the card because a guest has it, a card that the tool has called bad stays bad, also after a restart, until the tool answers or another kind of
card is in its place. Counters of the kernel begin anew when the machine starts or the device is plugged in again. \`temperature_margin_celsius\` says how the device is now, not that it is broken, and its sensor is
gone while a guest has the device or \`vfio-pci\` holds it: three readings that do not tell it end what it said. How such a mark ends is in
[operations](operations.md#when-a-device-counts-as-bad).

`
const healthTable = (): readonly string[] => [
  row(['quantity', 'what it is', 'warning', 'bad']),
  row(Array<string>(4).fill('---')),
  ...Object.entries(QUANTITIES).map(([name, meaning]) => {
    const from = (health: string) =>
      HEALTH_RULES.filter((rule) => rule.quantity === name && rule.health === health)
        .map(({ from: value, beyond }) => `${value} or ${beyond === 'above' ? 'more' : 'less'}`)
        .join() || '-'
    return row([`\`${name}\``, meaning, from('warning'), from('bad')])
  }),
  '',
]

export const driversPage = (): string =>
  [
    INTRODUCTION,
    row(['driver', 'hardware', 'type', 'resource class', 'traits', 'attach handles', 'programming', 'tried on']),
    row(Array<string>(8).fill('---')),
    ...DRIVER_NAMES.map((name) => {
      const { hardware, type, resourceClass, traits, handles, programming, tried } = DRIVER_FACTS[name]
      return row([`\`${name}\``, hardware, type, resourceClass, traits, handles, programming, tried])
    }),
    OPERATORS,
    MEASURED,
    ...healthTable(),
    '## Cards that are known by their ids',
    '',
    row(['ids', 'vendor', 'card', 'type', 'driver']),
    row(Array<string>(5).fill('---')),
    ...KNOWN_CARDS.map(({ vendor, product, lastProduct, subsystem, name, type, driver }) => {
      const ids = product === lastProduct ? product : `${product} to ${lastProduct}`
      return row([
        `\`${vendor}:${ids}${subsystem === undefined ? '' : ` of subsystem ${subsystem}`}\``,
        VENDOR_NAMES[vendor] ?? vendor,
        name,
        type,
        `\`${driver}\``,
      ])
    }),
    '',
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
