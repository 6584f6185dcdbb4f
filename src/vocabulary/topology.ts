/**
 * Reads the property `topology` of an image: a JSON text about the functions that a card has once the image is loaded
 * (data-model.md 10.1). Only documents about PCI functions are judged; other documents are for the driver of the card.
 * Pure.
 */
import * as v from 'valibot'
import { type PciAddress, hexText } from './pci.ts'

/** Routing ids have 16 bits: bus, device, function. */
const OFFSET_MAX = 65_535
const FUNCTIONS_MAX = 4096
const NAME_MAX = 64

const whole = (max: number) =>
  v.pipe(
    v.union(
      [v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'must be a number, or digits'))],
      'must be a number, or digits',
    ),
    v.transform(Number),
    v.integer('must be a whole number'),
    v.minValue(0, 'must not be negative'),
    v.maxValue(max, `must not be above ${max}`),
  )
const NAME = v.pipe(
  v.string('must be text'),
  v.regex(/^[\w.:-]+$/, 'must be of letters, digits and . : _ -'),
  v.maxLength(NAME_MAX, `must not be longer than ${NAME_MAX} characters`),
)
const TEXT_MAX = 65_535
const WORDS = v.nullish(
  v.pipe(v.string('must be text'), v.maxLength(TEXT_MAX, `must not be longer than ${TEXT_MAX} characters`)),
  '',
)
/** An object of which every field must be there; what is said of one that is not an object, or lacks a field. */
const withFields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object(entries, ({ expected }) =>
    expected === 'Object' ? 'must be an object with name and pci_offset' : 'must be there',
  )
const OF_EVERY = { name: NAME, pci_offset: whole(OFFSET_MAX) }
const VIRTUAL = withFields({
  ...OF_EVERY,
  vf: v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(0, 'a virtual function has no functions below it'))),
})
const many = <Schema extends v.GenericSchema>(one: Schema) =>
  v.pipe(v.array(one, 'must be a list'), v.maxLength(FUNCTIONS_MAX, `must not have more than ${FUNCTIONS_MAX} entries`))
const DOCUMENT = withFields({
  pf_num: whole(FUNCTIONS_MAX),
  vf_num: whole(FUNCTIONS_MAX),
  pf: v.pipe(
    many(withFields({ ...OF_EVERY, capability: WORDS, kpi: WORDS, vf: v.nullish(many(VIRTUAL), []) })),
    v.minLength(1, 'must not be empty'),
  ),
})
type Document = v.InferOutput<typeof DOCUMENT>

const firstTwice = (values: readonly (string | number)[]): string | number | undefined =>
  values.find((value, at) => values.indexOf(value) !== at)

const contradiction = ({ pf_num: pfs, vf_num: vfs, pf }: Document): string | null => {
  const functions = [...pf, ...pf.flatMap(({ vf }) => vf)]
  const parts = functions.length - pf.length
  if (pfs !== pf.length) return `pf_num is ${pfs}, and pf has ${pf.length} entries`
  if (vfs !== parts) return `vf_num is ${vfs}, and there are ${parts} virtual functions`
  const name = firstTwice(functions.map((one) => one.name))
  if (name !== undefined) return `two functions have the name ${name}`
  const offset = firstTwice(functions.map((one) => one.pci_offset))
  return offset === undefined ? null : `two functions have the pci_offset ${offset}`
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A document about PCI functions (`followed`), or why it cannot be used (`wrong`). `none`: it is of another kind, for
 * the driver to read.
 */
type Reading =
  | { readonly is: 'followed'; readonly document: Document }
  | { readonly is: 'none' }
  | { readonly is: 'wrong'; readonly reason: string }
const reading = (text: string): Reading => {
  const json = jsonIn(text)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { is: 'wrong', reason: 'topology must be a JSON object' }
  if (!('pf' in json || 'pf_num' in json || 'vf_num' in json)) return { is: 'none' }
  const { success, output, issues } = v.safeParse(DOCUMENT, json, { abortEarly: true })
  if (!success) return { is: 'wrong', reason: `topology: ${v.getDotPath(issues[0])}: ${issues[0].message}` }
  const found = contradiction(output)
  return found === null ? { is: 'followed', document: output } : { is: 'wrong', reason: `topology: ${found}` }
}

/**
 * Why the document cannot be used, as a sentence that names the field; null: it can be used, or is not about PCI
 * functions.
 */
export const topologyProblem = (text: string): string | null => {
  const read = reading(text)
  return read.is === 'wrong' ? read.reason : null
}

/** A function of the loaded image; `offset`: the distance of its routing id from that of the card. */
type Function = { readonly name: string; readonly offset: number }
export type PhysicalFunction = Function & {
  readonly capability: string
  readonly kpi: string
  readonly vfs: readonly Function[]
}
/** The functions that the document describes; null: it describes none, or cannot be used. */
export const topologyOf = (text: string | undefined): readonly PhysicalFunction[] | null => {
  const read = text === undefined ? null : reading(text)
  if (read?.is !== 'followed') return null
  return read.document.pf.map(({ name, pci_offset: offset, capability, kpi, vf }) => ({
    name,
    offset,
    capability,
    kpi,
    vfs: vf.map((one) => ({ name: one.name, offset: one.pci_offset })),
  }))
}

/**
 * The address of a function: routing ids count bus, device and function together. Null: it lies beyond the last bus.
 */
export const functionAt = ({ domain, bus, device, function: fn }: PciAddress, offset: number): PciAddress | null => {
  const id = Number.parseInt(bus, 16) * 256 + Number.parseInt(device, 16) * 8 + Number.parseInt(fn, 16) + offset
  const [own, at] = [hexText(id >> 8, 2), { device: hexText((id >> 3) & 31, 2), function: hexText(id & 7, 1) }]
  return id > OFFSET_MAX ? null : { domain, bus: own, ...at }
}
