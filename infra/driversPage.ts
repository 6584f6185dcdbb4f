/** The page about drivers and the cards that they know, printed from the code. */
import { KNOWN_CARDS } from '../src/drivers/cards/knownCards.ts'
import { DRIVER_FACTS } from '../src/drivers/catalogue.ts'
import { HEALTH_RULES, QUANTITIES } from '../src/vocabulary/health.ts'
import { DRIVER_NAMES } from '../src/drivers/index.ts'
import { VENDOR_NAMES } from '../src/vocabulary/vendors.ts'

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

\`id_table_driver\` offers every card of the table below that names it, and those of the file.

## What is not offered

One rule for all drivers judges each PCI function, when a host looks at its devices and once more at each bind. \`accelerando device scan\` names what is left out, with the reason:

* a function that has virtual functions: it would take them along. \`"mode": "pf"\` of a whitelist entry offers
  it all the same. Virtual functions of NVIDIA GPUs are offered as vGPUs only
  (\`gpu_devices.device_addresses\`);
* a card of which somebody has a part: a mediated device, or a vGPU that was made by hand or by Nova;
* what this machine needs: drives and network cards in use, disk and USB controllers with a drive or an adapter
  in use, a GPU with a connected display or the console, and the functions that
  manage NVLink on HGX boards;
* the management function of an Alveo card, unless \`fpga.alveo_management\` is on;
* what cannot reach a guest: a bridge to other buses, a function in a PCI domain above ffff (drives behind
  Intel VMD), and one that shares its IOMMU group with a function that this machine uses,
  such as the audio function of a GPU with its sound driver. Bind the others to vfio-pci, and it is offered. A machine whose IOMMU is off is not judged by groups.

A function that a process has opened through vfio-pci or a driver of that family stays offered, since it may be the guest that was given it; no other request gets it.

**NVMe drives** are left out while this machine uses them: mounted, as swap, or in a volume or a pool (md, LVM,
btrfs, ZFS). To find out, the host program opens them below \`/dev\` without reading; one that cannot be
opened is left out too. A drive that the host cleans stays offered, and a guest gets it only after another look.

**Network cards** are left out while the default route of this machine leads through them, or while they belong
to a bridge, a bond, a VLAN or a switch such as Open vSwitch
(\`/sys/class/net/<interface>/upper_*\`). A host program that does not see the network of its machine, as in a container, leaves out every card that has an interface; with the Helm chart set \`host.hostNetwork\`.

## Network cards for Neutron

A port of Neutron names a physical network, and Nova asks the attach handle for it. Name it for the interface of the physical function in \`nic_devices.physical_device_mappings\`, or with \`pci_driver\` as
\`physical_network\` of the whitelist entry (with \`"device_type": "NIC"\`), which comes first. Either adds the trait \`CUSTOM_<physical network>\`. \`intel_nic_driver\` offers the virtual functions of a card,
or the whole card where it has none. Except for X710, XXV710 and E810 it offers only cards that a mapping names, since the host may need others itself or Nova may give their functions away. Cards that the table below gives to
\`id_table_driver\` are offered whole by that one, and their virtual functions by \`intel_nic_driver\`.
`

const MEASURED = `
## What is measured, and when a device is bad

A host measures its devices every \`host.measure_every_seconds\`: the error counters of each PCI function (AER), the sensors of its kernel driver (hwmon), the state of its link, and whether its configuration space answers;
GPUs also with \`nvidia-smi\`, Ascend NPUs with \`npu-smi\`. Devices are measured at the function that names them. A device that a guest has shows what the kernel counts, and no sensors.

The tool of a vendor calls a card bad when it names the card in an error, prints a word such as \`[GPU is lost]\` or \`ERR!\` in place of a number, or no longer lists a card that the same kernel driver still serves. Its exit
status does not matter; what it said is in the log of the host. Where all cards of a driver are kept for guests (\`vfio\`), it is not asked. Fatal errors that only a port above a card has counted are the card's where nothing else is below that port.

A bad device is not offered until three readings in a row find it well; a warning is only shown. A reading finds it well only if it tells the quantity by which the device was bad: a card that \`nvidia-smi\` or
\`npu-smi\` has called bad stays bad, also after a restart, while the tool fails, is missing, or does not see the card because a guest has it. Another kind of card in its place ends that. Counters of the kernel begin anew when
the machine starts or the device is plugged in again. \`temperature_margin_celsius\` is an exception: three readings without it count as well.
What ends each mark is in [operations](operations.md#when-a-device-counts-as-bad).

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

const idsOf = ({ vendor, product, lastProduct, subsystem }: (typeof KNOWN_CARDS)[number]): string => {
  const ids = product === lastProduct ? product : `${product} to ${lastProduct}`
  return `\`${vendor}:${ids}${subsystem === undefined ? '' : ` of subsystem ${subsystem}`}\``
}
/** One row for the cards of a vendor that one driver offers as one type. */
const knownCards = (): readonly string[] => {
  const rows = Map.groupBy(
    KNOWN_CARDS,
    ({ vendor, type, driver }) => `${VENDOR_NAMES[vendor] ?? vendor} ${type} | \`${driver}\``,
  )
  return [...rows].map(([head, cards]) => {
    const named = Map.groupBy(cards, ({ name }) => name)
    return `| ${head} | ${[...named].map(([name, same]) => `${cell(name)} ${same.map(idsOf).join(' ')}`).join(', ')} |`
  })
}

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
    row(['cards', 'driver', 'card and ids']),
    row(Array<string>(3).fill('---')),
    ...knownCards(),
    '',
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
