/** Renaming traits and resource classes in device profiles: what is passed on, the limits, and what is refused. */
import { describe, expect, test } from 'vitest'
import { tell, uuid } from './toldControl.ts'

const [A, B] = [uuid(1), uuid(2)] as const
const LINE = 'POST /v2/profile_migrations'
const row = (id: string, name: string, ...groups: readonly object[]) => ({ uuid: id, name, groups })
const listOf = (...items: readonly object[]) => ({ 'profiles.list': { items, next: null }, 'profiles.regroup': null })
const group = (more: object = {}) => ({ 'resources:FPGA': '1', ...more })
const traits = { ' custom-old ': 'custom-new' }
const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`CUSTOM_${n}`, 'CUSTOM_X']))

const OLD = group({ 'trait:CUSTOM_OLD': 'required', 'accel:x': 'y' })
const NEW = group({ 'trait:CUSTOM_NEW': 'required', 'accel:x': 'y' })
describe('profiles that use a name', () => {
  const answers = listOf(row(A, 'a', group(), OLD), row(B, 'b', group()))
  const steps = [{ group: 1, from: 'trait:CUSTOM_OLD', to: 'trait:CUSTOM_NEW' }]
  test('are only told unless it is to be applied', async () => {
    for (const more of [{}, { apply: false }]) {
      const { got, asked } = await tell(LINE, answers, { body: { traits, ...more } })
      expect(got.json).toEqual({ applied: false, profiles: [{ uuid: A, name: 'a', changes: steps }] })
      expect(asked).toEqual([['profiles.list', null, {}]])
    }
  })
  test('are changed together, with what they were and the reason', async () => {
    const { got, asked } = await tell(LINE, answers, { body: { traits, apply: true, reason: ' r ' } })
    expect(got.json).toEqual({ applied: true, profiles: [{ uuid: A, name: 'a', changes: steps }] })
    const change = { uuid: A, name: 'a', was: [group(), OLD], groups: [group(), NEW], steps }
    expect(asked[1]).toEqual(['profiles.regroup', 'the caller', [change], 'r'])
  })
  test('are not those whose name is another one without its blanks', async () => {
    const { got } = await tell(LINE, answers, { body: { traits: { 'CUSTOM_ OLD': 'CUSTOM_NEW' } } })
    expect(got.json).toEqual({ applied: false, profiles: [] })
    // takes minutes where each blank is tried as the first one
    const long = { traits: { [`CUSTOM_${' '.repeat(200_000)}OLD`]: 'CUSTOM_NEW' } }
    expect((await tell(LINE, answers, { body: long })).got.json).toEqual({ applied: false, profiles: [] })
  })
  test('are asked for once where none does', async () => {
    const { got, asked } = await tell(LINE, listOf(row(B, 'b', group())), {
      body: { traits, apply: true, reason: 'r' },
    })
    expect([got.json, asked.length]).toEqual([{ applied: true, profiles: [] }, 1])
  })
  test('keep keys of other kinds with the same name', async () => {
    const same = { 'resources:CUSTOM_OLD': '1', 'trait:CUSTOM_OLD': 'required' }
    const changes = async (body: object) =>
      (await tell(LINE, listOf(row(A, 'a', same)), { body })).got.json.profiles[0].changes
    expect(await changes({ traits })).toEqual([{ group: 0, from: 'trait:CUSTOM_OLD', to: 'trait:CUSTOM_NEW' }])
    expect(await changes({ classes: { CUSTOM_OLD: 'FPGA' } })).toEqual([
      { group: 0, from: 'resources:CUSTOM_OLD', to: 'resources:FPGA' },
    ])
  })
})

test('at most a thousand profiles are changed at once', async () => {
  const many = (count: number) => listOf(...Array.from({ length: count }, (_, n) => row(uuid(n + 1), `n${n}`, OLD)))
  const most = await tell(LINE, many(1000), { body: { traits } })
  expect([most.got.status, most.got.json.profiles.length]).toEqual([200, 1000])
  const more = await tell(LINE, many(1001), { body: { traits, apply: true, reason: 'r' } })
  const why = '1001 profiles would change, at most 1000 can at once: split the map'
  expect([more.got.status, more.got.fault, more.asked.length]).toEqual([409, why, 1])
})
test('profiles that cannot be read, or have changed meanwhile, are a refusal', async () => {
  const body = { traits, apply: true, reason: 'r' }
  const no = async () => ({ ok: false, fault: { kind: 'conflict', reason: 'changed' } })
  for (const call of ['profiles.list', 'profiles.regroup']) {
    const { got } = await tell(LINE, { ...listOf(row(A, 'a', OLD)), [call]: no }, { body })
    expect([got.status, got.fault]).toEqual([409, 'changed'])
  }
})

test('a name that is renamed twice contradicts itself', async () => {
  const { got, asked } = await tell(LINE, {}, { body: { traits: { 'a-b': 'CUSTOM_A', A_B: 'CUSTOM_C' } } })
  expect([got.status, got.fault, asked]).toEqual([409, 'traits.A_B stands there twice.', []])
})

const TRAIT = 'the new name must start with CUSTOM_ or be OWNER_CYBORG'
test.each<[body: object, fault: string]>([
  [{}, 'traits: neither traits nor classes are renamed'],
  [{ traits: {}, classes: {} }, 'traits: neither traits nor classes are renamed'],
  [{ traits: { A: 'HW_B' } }, `traits.A: ${TRAIT}`],
  [{ classes: { A: 'VCPU' } }, 'classes.A: there is no such resource class'],
  [{ traits: { ' ': 'CUSTOM_A' } }, 'traits: an older name is empty'],
  [{ traits: names(1001) }, 'traits: there must not be more than 1000'],
  [{ classes: names(1001) }, 'classes: there must not be more than 1000'],
  [{ traits: { ['a'.repeat(101)]: 'x' } }, `traits.${'a'.repeat(100)}: ${TRAIT}`],
  [{ traits, apply: true }, 'reason: it is empty'],
])('case %#: %s', async (body, fault) => {
  const { got, asked } = await tell(LINE, {}, { body })
  expect([got.status, got.fault, asked]).toEqual([400, `Invalid ${fault}`, []])
})
test('a thousand names are renamed, and each kind has its own', async () => {
  const { got } = await tell(LINE, listOf(), { body: { traits: names(1000), classes: names(1000) } })
  expect([got.status, got.json]).toEqual([200, { applied: false, profiles: [] }])
})
test('a group that would lose a key, break a rule or ask for more than it may is named', async () => {
  const faultOf = async (body: object, ...groups: readonly object[]) =>
    (await tell(LINE, listOf(row(A, 'p', ...groups)), { body })).got.fault
  const both = group({ 'trait:CUSTOM_OLD': 'required', 'trait:CUSTOM_NEW': 'required' })
  expect(await faultOf({ traits }, group(), both)).toBe('p.groups[1]: two of its keys would become trait:CUSTOM_NEW.')
  const twice = group({ 'resources:GPU': '1', 'trait:A': 'required', 'trait:B': 'required' })
  expect(await faultOf({ traits: { A: 'CUSTOM_X', B: 'CUSTOM_X' }, classes: { GPU: 'FPGA' } }, twice)).toBe(
    'p.groups[0]: two of its keys would become resources:FPGA.',
  )
  const odd = group({ 'trait:CUSTOM_OLD': 'odd' })
  expect(await faultOf({ traits }, odd)).toBe('Invalid p.groups[0].trait:CUSTOM_NEW: it must be required or forbidden')
  // a card of Xilinx makes two requests for each accelerator
  const xilinx = { traits: { CUSTOM_OLD: 'CUSTOM_FPGA_XILINX' } }
  const of = (amount: string) => ({ 'resources:FPGA': amount, 'trait:CUSTOM_OLD': 'required' })
  const tooMany = 'The amounts of a profile must not sum to more than 256; these ask for 258.'
  expect([await faultOf(xilinx, of('128')), await faultOf(xilinx, of('129'))]).toEqual(['', `Profile p: ${tooMany}`])
  // what exceeds the limit already may still be renamed
  expect(await faultOf({ traits }, of('200'), of('200'))).toBe('')
})
