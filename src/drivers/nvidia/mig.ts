/**
 * NVIDIA GPUs that are divided into MIG instances, which the host then uses or lends in parts (drivers.md 4.6): no
 * driver offers such a card as a whole.
 *
 * MIG-1 a card that NVIDIA's kernel driver shows with GPU instances is left out;
 * MIG-2 so is a card of which the kernel does not say whether it has any, while it shows capabilities at all;
 * MIG-3 so is a card in MIG mode without instances. The kernel does not show the mode, so `nvidia-smi` is asked, and
 *    only for cards that can be divided; while it does not answer, its last answer counts, and before the first one the
 *    card is offered, because without instances no part of it is in use.
 */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, parsePciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import type { Driver, HostIo } from '../driver.ts'
import { listed, readIfThere } from '../files.ts'
import { said, TOOL_MS } from '../measuring/tool.ts'

const GPUS = '/proc/driver/nvidia/gpus'
const CAPABILITIES = '/proc/driver/nvidia/capabilities'
const ARGS = ['--query-gpu=pci.bus_id,mig.mode.current', '--format=csv,noheader']

/**
 * Pure. The number in the name `gpuN` of a card's capabilities, from its `information`; null: the text does not say it.
 */
const minorIn = (information: string): string | null =>
  /^Device Minor:[^\S\n]*(\d{1,9})[^\S\n]*$/m.exec(information)?.[1] ?? null
/**
 * Pure. By address, whether the card is in MIG mode. Lines of another form are passed over, as are cards that know no
 * such mode.
 */
const modesIn = (text: string): ReadonlyMap<string, boolean> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [bus = '', mode = ''] = line.split(',').map((part) => part.trim())
      const address = parsePciAddress(bus)
      return address === null || !/^(?:En|Dis)abled$/.test(mode)
        ? []
        : [[formatPciAddress(address), mode === 'Enabled'] as const]
    }),
  )

type Card = { readonly state: 'whole' | 'unknown' } | { readonly state: 'divisible'; readonly instances: number }

/** By the kernel. A card bound to another driver, such as vfio-pci, counts as whole. */
const cardAt = async (io: HostIo, address: string): Promise<Card> => {
  const name = (await listed(io, GPUS)).find((one) => one.toLowerCase() === address)
  if (name === undefined) return { state: 'whole' }
  const cards = (await listed(io, CAPABILITIES)).filter((one) => /^gpu\d+$/.test(one))
  if (cards.length === 0) return { state: 'whole' }
  // the kernel driver shows an empty text when it cannot wake the card
  const minor = minorIn((await readIfThere(io, `${GPUS}/${name}/information`)) ?? '')
  if (minor === null) return { state: 'unknown' }
  if (!cards.includes(`gpu${minor}`)) return { state: 'whole' }
  const folders = await listed(io, `${CAPABILITIES}/gpu${minor}`)
  if (!folders.includes('mig')) return { state: 'whole' }
  const parts = await listed(io, `${CAPABILITIES}/gpu${minor}/mig`)
  return { state: 'divisible', instances: parts.filter((one) => /^gi\d+$/.test(one)).length }
}

/** Answers which of the cards must not be offered as a whole, and why, in words. */
const migCards = (program: string) => {
  const modes = new Map<string, boolean>()
  let warned = false
  const askModes = async (io: HostIo): Promise<void> => {
    // one card that is lost makes it fail, and it tells of the others all the same
    const { output, failure } = await said(io.run(program, ARGS, TOOL_MS))
    for (const [address, mode] of modesIn(output)) modes.set(address, mode)
    if (failure !== null && !warned) io.warn('nvidia_mig_mode_unknown', { reason: failure })
    warned = failure !== null
  }
  return async (io: HostIo, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const reasons = new Map<string, string>()
    const undivided: string[] = []
    for (const address of addresses) {
      const card = await cardAt(io, address)
      if (card.state === 'unknown')
        reasons.set(address, `${GPUS}/${address}/information names no Device Minor, so it may be divided by MIG`)
      else if (card.state === 'divisible' && card.instances > 0)
        reasons.set(address, `it is divided into MIG instances (${card.instances})`)
      else if (card.state === 'divisible') undivided.push(address)
    }
    if (undivided.length > 0) await askModes(io)
    for (const address of undivided)
      if (modes.get(address) === true)
        reasons.set(address, `its MIG mode is enabled, without instances: nvidia-smi -i ${address} -mig 0 ends that`)
    return reasons
  }
}

const isNvidia = ({ vendor }: ReportedDevice): boolean => /^(?:0x)?10de$/i.test(vendor)
/** The function that the device is, if it is given away as a whole. */
const wholeAt = (device: ReportedDevice): string | null => {
  const address = isNvidia(device) ? pciAddressOf(jsonIn(device.controlPath.info)) : null
  const handles = device.deployables.flatMap((one) => one.handles)
  return address !== null && handles.some(({ type }) => type === 'PCI') ? formatPciAddress(address) : null
}

/** The driver without cards that are divided by MIG. What is bound is looked at once more when its host prepares it. */
export const withoutMigCards = (driver: Driver, program: string): Driver => {
  const reasonsFor = migCards(program)
  const look = async (io: HostIo) => {
    const devices = await driver.discover(io)
    const reasons = await reasonsFor(
      io,
      devices.flatMap((one) => wholeAt(one) ?? []),
    )
    return { devices: devices.filter((one) => !reasons.has(wholeAt(one) ?? '')), reasons }
  }
  return {
    ...driver,
    discover: async (io) => (await look(io)).devices,
    leftOut: async (io) => [
      ...((await driver.leftOut?.(io)) ?? []),
      ...[...(await look(io)).reasons].map(([address, reason]) => ({ address, reason })),
    ],
    prepare: async (io, slot, signal) => {
      signal.throwIfAborted()
      const pci = slot.type === 'PCI' ? pciAddressOf(slot.info) : null
      const address = pci === null ? '' : formatPciAddress(pci)
      const reason = (await reasonsFor(io, pci === null ? [] : [address])).get(address)
      if (reason !== undefined) throw new Error(`slot ${slot.uuid}: ${address} is not given away whole: ${reason}`)
      await driver.prepare(io, slot, signal)
    },
  }
}
