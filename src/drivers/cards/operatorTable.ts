/** The rows that an operator adds to the table of known cards (`cards.id_table`), a list of cards. Pure. */
import * as v from 'valibot'
import { DEVICE_TYPES } from '../../vocabulary/hardware.ts'
import { hexNumber, hexText } from '../../vocabulary/pci.ts'
import { brokenText, NAME_LIMIT } from '../../vocabulary/text.ts'
import { RESOURCE_CLASS } from '../pci/whitelist.ts'
import { type KnownCard, TABLE_DRIVER } from './knownCards.ts'

/** Drivers that ask the table which cards are theirs. */
export const DRIVERS_OF_ROWS = [
  TABLE_DRIVER,
  'huawei_ascend_driver',
  'intel_qat_driver',
  'intel_nic_driver',
  'intel_fpga_driver',
] as const

const HEX = 'must be four hex digits, as text'
const Id = v.pipe(
  v.string(HEX),
  v.check((text) => /^(?:0x)?[0-9a-f]{1,4}$/i.test(text), HEX),
  v.transform((text) => hexText(hexNumber(text)!, 4)),
)
const TRAIT = 'must be CUSTOM_ and then A-Z, 0-9 and _, at most 255 characters'
const CLASS = 'must be FPGA, PGPU, VGPU or CUSTOM_ and then A-Z, 0-9 and _'
const Text = (name: string) =>
  v.pipe(
    v.string(`must be text`),
    v.minLength(1, `must not be empty`),
    v.check((text) => brokenText(text, NAME_LIMIT) === null, `must be a ${name} of at most 255 visible characters`),
  )

const Card = v.pipe(
  v.strictObject(
    {
      vendor: Id,
      device: Id,
      class: v.optional(
        v.pipe(v.string(), v.regex(/^[0-9a-f]{2}(?:[0-9a-f]{2}){0,2}$/i, 'must be 2, 4 or 6 hex digits')),
      ),
      type: v.picklist(DEVICE_TYPES, `must be one of ${DEVICE_TYPES.join(', ')}`),
      name: Text('name'),
      family: v.optional(Text('name')),
      rc: v.optional(v.pipe(v.string(CLASS), v.regex(RESOURCE_CLASS, CLASS))),
      traits: v.optional(
        v.pipe(
          v.array(v.pipe(v.string(TRAIT), v.regex(/^CUSTOM_[A-Z0-9_]{1,248}$/, TRAIT))),
          v.maxLength(50, 'must not be more than 50'),
        ),
      ),
      vf_of: v.optional(Id),
      driver: v.optional(v.picklist(DRIVERS_OF_ROWS, `must be one of ${DRIVERS_OF_ROWS.join(', ')}`)),
    },
    ({ expected, received }) =>
      expected === 'never'
        ? `is not a field of a card: ${received} is unknown`
        : 'must be a card with vendor, device, type and name',
  ),
  v.transform(
    ({ vendor, device, class: pciClass = '', type, name, family, rc, traits = [], vf_of, driver }): KnownCard => ({
      vendor,
      product: device,
      lastProduct: device,
      type,
      family: family ?? null,
      name,
      ofOperator: true,
      vfOf: vf_of ?? null,
      driver: driver ?? TABLE_DRIVER,
      resourceClass: rc ?? null,
      traits,
      pciClass: pciClass.toLowerCase(),
    }),
  ),
)
const Cards = v.pipe(v.array(Card, 'must be a list of cards'), v.maxLength(1000, 'must not have more than 1000 cards'))

/** `problems`: each with its place and the rule. */
export type OperatorTable = { readonly cards: readonly KnownCard[]; readonly problems: readonly string[] }

/** `given`: the decoded content of the file; nothing at all is an empty table. */
export const readOperatorTable = (given: unknown): OperatorTable => {
  const { success, output, issues } = v.safeParse(Cards, given ?? [], { abortPipeEarly: true })
  if (success) return { cards: output, problems: [] }
  return {
    cards: [],
    problems: issues.slice(0, 20).map((issue) => [v.getDotPath(issue) ?? '', issue.message].filter(Boolean).join(': ')),
  }
}
