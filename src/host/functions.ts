/**
 * What a loaded image says of itself, and the functions that it gives a card, as its `topology` describes them
 * (data-model.md 9.2, 10): the deployable becomes the root of a tree with a deployable for each function, which has the
 * handle that the driver shows at that address.
 *
 * FUNCTIONS-1 the description is kept on the disk before the card is written, and applies as long as a card holds
 *    exactly that image, with the same bytes, at whatever address the card is by then;
 * FUNCTIONS-2 the driver's own report takes precedence: a tree that it shows stays as it is, a function that it does
 *    not show is left out, and a handle that the document does not name stays with the root. A card whose functions are
 *    given together is not divided;
 * FUNCTIONS-3 drivers know the root only: orders for a function reach them under the name of its root;
 * FUNCTIONS-4 an image is not loaded where the card cannot be divided as its document says.
 */
import type { DeployableName } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import { type Image, digestText } from '../vocabulary/images.ts'
import type { ReportedDeployable, ReportedDevice, ReportedHandle } from '../vocabulary/hardware.ts'
import type { Log } from '../vocabulary/log.ts'
import { jsonIn } from '../vocabulary/jsonText.ts'
import { type PciAddress, formatPciAddress, pciAddressOf } from '../vocabulary/pci.ts'
import { addressInName } from '../vocabulary/pciMoves.ts'
import { type PhysicalFunction, functionAt, topologyOf } from '../vocabulary/topology.ts'
import type { Disk } from './disk.ts'
import type { Section } from './sections.ts'

const Kept = v.object({
  deployable: v.pipe(v.string(), v.maxLength(1000)),
  image: v.pipe(v.string(), v.maxLength(100)),
  /** The digest of its bytes, as drivers report it. Hosts before release 0.4.0 did not keep it. */
  digest: v.optional(v.string()),
  /** Absent: it does not divide the card. */
  topology: v.optional(v.pipe(v.string(), v.maxLength(65_535))),
  /** Other properties of the image. */
  facts: v.record(v.string(), v.string()),
})
type Kept = Readonly<v.InferOutput<typeof Kept>>
const File = v.object({ kept: v.array(Kept) })
/** The newest descriptions are kept; each card needs one, and a second one while it is programmed. */
const KEPT_MAX = 512
const FACTS = ['function_name', 'bs-name', 'bs-uuid'] as const
const factsOf = (properties: Image['properties']): Kept['facts'] =>
  Object.fromEntries(FACTS.flatMap((key) => (properties[key] ? [[key, properties[key]]] : [])))

const nameOf = (root: string, one: string): string => `${root}_${one}`
type Tree = { readonly root: ReportedDeployable; readonly below: readonly ReportedDeployable[] }

const attributesOf = (kind: 'PF' | 'VF', offset: number, more: Readonly<Record<string, string>> = {}) =>
  Object.entries({ function_type: kind, pci_offset: String(offset), ...more })
    .filter(([, value]) => value !== '')
    .map(([key, value]) => ({ key, value }))

/** Returns the deployable with a tree of its functions; null: the driver shows none of them. Pure. */
const dividedInto = (
  whole: ReportedDeployable,
  base: PciAddress,
  functions: readonly PhysicalFunction[],
  { image, facts }: Pick<Kept, 'image' | 'facts'>,
): Tree | null => {
  // these functions are given to one guest together (C11)
  if (whole.handles.some(({ set }) => set !== undefined)) return null
  const byAddress = new Map<string, ReportedHandle>()
  for (const handle of whole.handles) {
    const address = pciAddressOf(handle.info)
    if (address) byAddress.set(formatPciAddress(address), handle)
  }
  const handleAt = (offset: number): readonly ReportedHandle[] => {
    const address = functionAt(base, offset)
    const handle = address && byAddress.get(formatPciAddress(address))
    return handle ? [handle] : []
  }
  const { driverName, hostWork } = whole
  const node = { driverName, hostWork, programmable: false }
  const below = functions.flatMap(({ name, offset, capability, kpi, vfs }): ReportedDeployable[] => {
    const own = nameOf(whole.name, name)
    const leaves = vfs.flatMap((vf) =>
      handleAt(vf.offset).map((handle): ReportedDeployable => {
        const named = { name: nameOf(whole.name, vf.name), parent: own, kind: 'vf' as const }
        return { ...named, ...node, numAccelerators: 1, attributes: attributesOf('VF', vf.offset), handles: [handle] }
      }),
    )
    const handles = vfs.length > 0 ? [] : handleAt(offset)
    if (leaves.length + handles.length === 0) return []
    const attributes = attributesOf('PF', offset, { capability, kpi })
    const count = leaves.length + handles.length
    return [
      { name: own, parent: whole.name, kind: 'pf', ...node, numAccelerators: count, attributes, handles },
      ...leaves,
    ]
  })
  if (below.length === 0) return null
  const given = new Set(below.flatMap(({ handles }) => handles))
  const rest = whole.handles.filter((handle) => !given.has(handle))
  const root = {
    ...described(whole, { image, facts }),
    kind: 'region' as const,
    handles: rest,
    numAccelerators: rest.length + given.size,
  }
  return { root, below }
}

/** With what is known of the image that it holds. */
const described = (whole: ReportedDeployable, { image, facts }: Pick<Kept, 'image' | 'facts'>): ReportedDeployable => {
  const parent = whole.attributes.length
  const { digest, functionId } = whole.bitstream ?? {}
  const known: Kept['facts'] = {
    ...factsOf(facts),
    ...(functionId && { function_uuid: functionId }),
    ...(digest && { digest }),
  }
  const more = Object.entries(known).map(([key, value]) => ({ key, value, parent }))
  return { ...whole, attributes: [...whole.attributes, { key: 'bitstream_id', value: image }, ...more] }
}

/**
 * Why the card cannot be divided as the document of the image says; null: it can, or there is no such document. Pure.
 */
export const undividable = (
  { handles }: ReportedDeployable,
  { controlPath, deployables }: ReportedDevice,
  { properties }: Image,
): string | null => {
  const functions = topologyOf(properties['topology'])
  if (functions === null) return null
  const base = pciAddressOf(jsonIn(controlPath.info))
  const mismatch = (why: string): string => `topology mismatch: ${why}`
  if (base === null || deployables.some(({ parent }) => parent !== undefined))
    return mismatch('the driver of the card says itself what it consists of')
  if (handles.some(({ set }) => set !== undefined)) return mismatch('the functions of the card are given together')
  const shown = new Set(handles.flatMap(({ info }) => pciAddressOf(info) ?? []).map(formatPciAddress))
  const leaves = functions.flatMap((pf): readonly { readonly name: string; readonly offset: number }[] =>
    pf.vfs.length > 0 ? pf.vfs : [pf],
  )
  for (const { name, offset } of leaves) {
    const address = functionAt(base, offset)
    if (address === null) return mismatch(`${name} has the offset ${offset}, which lies beyond the last bus`)
    const text = formatPciAddress(address)
    if (!shown.has(text)) return mismatch(`the card has no function ${text}, which would be ${name}`)
  }
  return null
}

export type Functions = {
  /** Keeps the description of an image. Must be called before the card is written. */
  readonly keep: (deployable: DeployableName, image: Image) => Promise<void>
  /** Returns the section of a driver, with the functions of the images that its cards hold. */
  readonly divided: (section: Section) => Section
  /** Returns the name under which the driver knows the deployable: its own or, for a function, that of its root. */
  readonly rootOf: (deployable: DeployableName) => DeployableName
}

const parsed = (text: string | null): readonly Kept[] | null => {
  if (text === null) return []
  const file = v.safeParse(File, jsonIn(text))
  return file.success ? file.output.kept : null
}

const isElsewhere =
  (name: DeployableName) =>
  ({ deployable }: Kept): boolean =>
    deployable !== name && addressInName(name) !== null && addressInName(deployable) !== null
const ADDRESS_THEN_FUNCTION = /^(.*[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])_(.+)$/i
/** Where the card is at another address by now, the names begin with that one. */
const rootIn = (owners: ReadonlyMap<string, string>, name: DeployableName): DeployableName => {
  const [, root, own] = ADDRESS_THEN_FUNCTION.exec(name) ?? []
  if (root === undefined || own === undefined) return name
  const isKnown = [...owners].some(([one, of]) => one === nameOf(of, own))
  return isKnown ? root : name
}
/** Maps the name of the deployable of each function to the name of its root. */
const ownersIn = (kept: readonly Kept[]): ReadonlyMap<string, string> =>
  new Map(
    kept.flatMap(({ deployable: root, topology }) =>
      (topologyOf(topology) ?? []).flatMap(({ name, vfs }) =>
        [name, ...vfs.map((vf) => vf.name)].map((one) => [nameOf(root, one), root] as const),
      ),
    ),
  )

/**
 * Rejects only when the disk fails. A file that cannot be read counts as missing: cards are then shown as a whole,
 * without their functions.
 */
export const openFunctions = async (disk: Disk, path: string, log: Log): Promise<Functions> => {
  const found = parsed(await disk.read(path))
  if (found === null) log.warn({ path }, 'host.functionsUnreadable')
  let kept: readonly Kept[] = found ?? []
  let owners = ownersIn(kept)
  let writing: Promise<void> = Promise.resolve()
  const missed = new Set<string>()
  const documentOf = ({ name, bitstreamId, bitstream = {} }: ReportedDeployable): Kept | undefined => {
    const those = kept.filter(({ image }) => image === bitstreamId)
    // the card may have been at another address when the image was loaded
    const ranked = [...those.filter(isElsewhere(name)), ...those.filter(({ deployable }) => deployable === name)]
    const same = ranked.findLast(({ digest }) => digest === bitstream.digest)
    // a driver need not report a digest
    return same ?? (bitstream.digest === undefined ? ranked.at(-1) : undefined)
  }

  const treeOf = (whole: ReportedDeployable, device: ReportedDevice): readonly ReportedDeployable[] => {
    const document = documentOf(whole)
    if (document === undefined) return [whole]
    const base = pciAddressOf(jsonIn(device.controlPath.info))
    const functions = topologyOf(document.topology)
    const isTree = device.deployables.some(({ parent }) => parent !== undefined)
    if (!base || !functions || isTree) return [described(whole, document)]
    const tree = dividedInto(whole, base, functions, document)
    if (tree) return [tree.root, ...tree.below]
    const mark = `${whole.name} ${document.image}`
    if (!missed.has(mark)) log.warn({ deployable: whole.name, image: document.image }, 'host.functionsNotShown')
    missed.add(mark)
    return [described(whole, document)]
  }
  return {
    keep: async (deployable, { uuid: image, digest: known, properties }) => {
      const topology = topologyOf(properties['topology']) === null ? {} : { topology: properties['topology'] }
      const digest = known === null ? {} : { digest: digestText(known) }
      const one: Kept = { deployable, image, ...digest, ...topology, facts: factsOf(properties) }
      if (Object.keys({ ...digest, ...topology, ...one.facts }).length === 0) return
      const isSame = (each: Kept): boolean =>
        each.deployable === deployable && each.image === image && each.digest === one.digest
      kept = [...kept.filter((each) => !isSame(each)), one].slice(-KEPT_MAX)
      owners = ownersIn(kept)
      missed.clear()
      writing = writing.catch(() => {}).then(() => disk.replace(path, JSON.stringify({ kept })))
      await writing
    },
    divided: (section) =>
      section.status === 'failed' || kept.length === 0
        ? section
        : {
            ...section,
            devices: section.devices.map((device) => ({
              ...device,
              deployables: device.deployables.flatMap((whole) => treeOf(whole, device)),
            })),
          },
    rootOf: (deployable) => owners.get(deployable) ?? rootIn(owners, deployable),
  }
}
