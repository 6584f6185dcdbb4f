/** Device profiles: the table of refusals, row by row, and the form in which the rest is kept. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isProfileName } from '../../src/actors/profile/name.ts'
import { newProfile } from '../../src/http/routes/profileRules.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send } from './steps.ts'

const readProfile = (json: unknown) => newProfile.read(json, { minor: 3, isAdmin: true })
const group = { 'resources:FPGA': '1' }
const profile = (more: object = {}) => ({ name: 'fpga', groups: [group], ...more })
const withGroup = (entries: object) => [profile({ groups: [{ ...group, ...entries }] })]
const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'

const post = async (json: unknown, options = {}) => {
  const { app, asked } = strictApp(options)
  const got = await send(app, 'POST /v2/device_profiles', { body: json })
  expect(asked).toEqual([])
  return got
}

const REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['3 an empty list', [], 'body'],
  ['3 two at once', [profile(), profile()], 'body'],
  ['3 a number', 5, 'body'],
  ['3 null', null, 'body'],
  ['3 a list in a list', [[profile()]], 'body'],
  ['3 text', 'fpga', 'body'],
  ['4b no name', [{ groups: [group] }], 'name'],
  ['4b a null name', [profile({ name: null })], 'name'],
  ['4c a number for a name', [profile({ name: 5 })], 'name'],
  ['4c a list for a name', [profile({ name: ['a'] })], 'name'],
  ['4d a blank in the name', [profile({ name: 'a b' })], 'name'],
  ['4d a newline after the name', [profile({ name: 'fpga\n' })], 'name'],
  ['4d another script', [profile({ name: 'плис' })], 'name'],
  ['4d too long and with a blank', [profile({ name: `a ${'b'.repeat(300)}` })], 'name'],
  ['5 no groups', [{ name: 'fpga' }], 'groups'],
  ['5 empty groups', [profile({ groups: [] })], 'groups'],
  ['5 an object for groups', [profile({ groups: group })], 'groups'],
  ['5 a text among groups', [profile({ groups: ['FPGA'] })], 'groups[0]'],
  ['5 null among groups', [profile({ groups: [group, null] })], 'groups[1]'],
  ['5 a list among groups', [profile({ groups: [[]] })], 'groups[0]'],
  ['5 more groups than anyone needs', [profile({ groups: Array.from({ length: 101 }, () => group) })], 'groups'],
  ['6 a key without a prefix', withGroup({ FPGA: '1' }), 'groups[0].FPGA'],
  ['6 a key with another prefix', withGroup({ 'resources1:FPGA': '1' }), 'groups[0].resources1:FPGA'],
  ['6 a key of the language', withGroup({ 'constructor:x': '1' }), 'groups[0].constructor:x'],
  ['7 a standard trait', withGroup({ 'trait:HW_CPU_X86_AVX': 'required' }), 'groups[0].trait:HW_CPU_X86_AVX'],
  ['7 a trait without a name', withGroup({ 'trait:': 'required' }), 'groups[0].trait:'],
  [
    '7 a trait neither required nor forbidden',
    withGroup({ 'trait:CUSTOM_A': 'preferred' }),
    'groups[0].trait:CUSTOM_A',
  ],
  ['7 a number for a trait', withGroup({ 'trait:CUSTOM_A': 1 }), 'groups[0].trait:CUSTOM_A'],
  ['8 a class nobody has', [profile({ groups: [{ 'resources:DISK_GB': '1' }] })], 'groups[0].resources:DISK_GB'],
  ['8 a class in lower case', [profile({ groups: [{ 'resources:fpga': '1' }] })], 'groups[0].resources:fpga'],
  ...['0', 0, -1, '-1', 1.5, '1.5', null, '', 'one', true, [], {}, 257, '99999999999999999999', 1e300].map(
    (amount) =>
      [
        `8 the amount ${JSON.stringify(amount)}`,
        [profile({ groups: [{ 'resources:FPGA': amount }] })],
        'groups[0].resources:FPGA',
      ] as const,
  ),
  ['9 no resources', [profile({ groups: [{ 'trait:CUSTOM_A': 'required' }] })], 'groups[0]'],
  ['9 an empty group', [profile({ groups: [{}] })], 'groups[0]'],
  [
    '10 a bitstream and a function',
    withGroup({ 'accel:bitstream_id': UUID, 'accel:function_id': '3AFB' }),
    'groups[0]',
  ],
  ['10 two names', withGroup({ 'accel:bitstream_name': 'a', 'accel:function_name': 'b' }), 'groups[0]'],
  ['11 a place to attach nobody has', withGroup({ 'accel:attach_target': 'moon' }), 'groups[0].accel:attach_target'],
  ['11 a bitstream that is not a UUID', withGroup({ 'accel:bitstream_id': '3AFB' }), 'groups[0].accel:bitstream_id'],
  ['11 a function without a name', withGroup({ 'accel:function_id': '' }), 'groups[0].accel:function_id'],
  ['11 a strange accel key', withGroup({ 'accel:a b': 'x' }), 'groups[0].accel:a b'],
  ['11 an object for an accel value', withGroup({ 'accel:x': {} }), 'groups[0].accel:x'],
  ['11 an accel value without end', withGroup({ 'accel:x': 'y'.repeat(65_536) }), 'groups[0].accel:x'],
  ['11b a cleaning that no policy knows', withGroup({ 'accel:cleaning': 'yes' }), 'groups[0].accel:cleaning'],
  [
    '11b less than the operator of a host has chosen',
    withGroup({ 'accel:cleaning': 'none' }),
    'groups[0].accel:cleaning',
  ],
  ['11b an empty cleaning', withGroup({ 'accel:cleaning': '' }), 'groups[0].accel:cleaning'],
  ['11a alternatives', withGroup({ 'accel:any_of': 'CUSTOM_A,CUSTOM_B' }), 'groups[0].accel:any_of'],
  ['11a alternatives as a list', withGroup({ 'accel:any_of': [group] }), 'groups[0].accel:any_of'],
  ['11a alternatives in another spelling', withGroup({ 'accel:Any-Of': '1' }), 'groups[0].accel:Any-Of'],
  ['11a alternatives with a number', withGroup({ 'accel:any_of1': 'x' }), 'groups[0].accel:any_of1'],
  [
    '11a alternatives in the second group',
    [profile({ groups: [group, { 'accel:anyof:a': 'x' }] })],
    'groups[1].accel:anyof:a',
  ],
  ['12 a number for a description', [profile({ description: 5 })], 'description'],
  ['12 a description without end', [profile({ description: 'x'.repeat(65_536) })], 'description'],
  ['13 a uuid that is none', [profile({ uuid: 'fpga' })], 'uuid'],
  ['13 a number for a uuid', [profile({ uuid: 5 })], 'uuid'],
]

/** Of the form that the description asks for, but its parts do not agree. */
const CONTRADICTIONS: readonly (readonly [string, unknown, string])[] = [
  [
    '5 groups longer than a store takes',
    [profile({ groups: [{ ...group, 'accel:x': 'y'.repeat(40_000), 'accel:y': 'y'.repeat(40_000) }] })],
    'All groups together',
  ],
  ['8 amounts that sum to 257 in one group', withGroup({ 'resources:CUSTOM_MEMORY': 256 }), 'ask for 257.'],
  [
    '8 amounts that sum to 257 over the groups',
    [profile({ groups: [{ 'resources:FPGA': 200 }, { 'resources:FPGA': 57 }] })],
    'ask for 257.',
  ],
  [
    '8 a Xilinx card of which each accelerator makes two requests',
    [profile({ groups: [{ 'resources:FPGA': 129, 'trait:CUSTOM_FPGA_XILINX': 'required' }] })],
    'ask for 258.',
  ],
  ['one key in two spellings', withGroup({ 'resources: FPGA ': '1' }), 'groups[0] names resources:FPGA twice.'],
]
test.each(CONTRADICTIONS)('refused with 409, the reason told: %s', async (_, json, reason) => {
  const got = await post(json)
  expectRefusal(got, 409)
  expect(got.fault).toContain(reason)
})

describe('refused with 400, the field named, nobody asked', () => {
  test.each(REFUSED)('%s', async (_, json, field) => {
    const got = await post(json)
    expectRefusal(got, 400)
    expect(got.fault).toContain(`Invalid ${field}: `)
  })
})

test('11a the refusal of alternatives says why, and what to do instead', async () => {
  const { fault } = await post(withGroup({ 'accel:any_of': 'x' }))
  expect(fault).toMatch(
    /because Nova asks for all of its groups at the same time; ask in one group .* or make a device profile and a flavor/,
  )
})
test('11a the refusal shows 100 characters of the key', () => {
  const key = `accel:any_of:${'x'.repeat(100)}`
  const field = `groups[0].${key.slice(0, 100)}`
  expect(readProfile(withGroup({ [key]: 'x' }))).toMatchObject({ ok: false, fault: { kind: 'invalid', field } })
})
test('11a a key that only begins alike is kept', () => {
  const read = readProfile(withGroup({ 'accel:any_office': 'x' }))
  expect(read).toMatchObject({ ok: true, value: { groups: [{ 'accel:any_office': 'x' }] } })
})

describe('the server faults that tests of clients expect', () => {
  const CASES = [
    ['4a an empty name', [profile({ name: '' })]],
    ['4e a name of 256 characters', [profile({ name: 'a'.repeat(256) })]],
  ] as const
  test.each(CASES)('%s', async (_, json) => expectRefusal(await post(json), 500))
  test.each(CASES)('%s, with the switch off', async (_, json) =>
    expectRefusal(await post(json, { compat: { tempestServerFaults: false } }), 400),
  )
})

describe('what is kept', () => {
  const kept = (json: unknown) => {
    const read = readProfile(json)
    if (!read.ok) throw new Error(JSON.stringify(read))
    return read.value
  }
  test('canonical input stays as it is', () => {
    const groups = [{ 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_INTEL': 'required', 'accel:bitstream_id': UUID }, group]
    expect(kept([profile({ groups, description: 'd', uuid: UUID })])).toEqual({
      uuid: UUID,
      name: 'fpga',
      description: 'd',
      groups,
    })
  })
  test('the object alone will do, and unknown keys are left aside', () => {
    expect(kept(profile({ created_at: 'yesterday', colour: 'red' }))).toEqual({
      name: 'fpga',
      description: null,
      groups: [group],
    })
  })
  test('amounts that sum to the most a profile may ask for, and one more names that limit', async () => {
    const most = [{ 'resources:FPGA': 200 }, { 'resources:FPGA': 56 }]
    expect(kept(profile({ groups: most })).groups).toHaveLength(2)
    const got = await post([profile({ groups: [...most, { 'resources:PGPU': 1 }] })])
    expect(got.fault).toBe('The amounts of a profile must not sum to more than 256; these ask for 257.')
  })
  test('groups of as many characters as are kept together', () => {
    const filled = (length: number) => {
      const text = 'y'.repeat(length - JSON.stringify([{ ...group, 'accel:x': '' }]).length)
      return profile({ groups: [{ ...group, 'accel:x': text }] })
    }
    expect(JSON.stringify(kept(filled(65_535)).groups)).toHaveLength(65_535)
    const reason = 'All groups together must not be longer than 65535 characters.'
    expect(readProfile(filled(65_536))).toEqual({ ok: false, fault: { kind: 'conflict', reason } })
  })
  test('a name of 255 characters can be one, and a longer one cannot', () =>
    expect([isProfileName('a'.repeat(255)), isProfileName('a'.repeat(256))]).toEqual([true, false]))
  test('names at their longest', () => expect(kept(profile({ name: 'a'.repeat(255) })).name).toHaveLength(255))
  test.each([
    [{ 'resources: FPGA ': 2 }, { 'resources:FPGA': '2' }],
    [{ 'resources:FPGA': ' 02 ' }, { 'resources:FPGA': '2' }],
    [{ 'resources:custom-my-card': '1' }, { 'resources:CUSTOM_MY_CARD': '1' }],
    [
      { ...group, 'trait: custom_fast-card': 'forbidden' },
      { ...group, 'trait:CUSTOM_FAST_CARD': 'forbidden' },
    ],
    [
      { ...group, 'trait:OWNER_CYBORG': 'required' },
      { ...group, 'trait:OWNER_CYBORG': 'required' },
    ],
    [
      { ...group, 'accel:bitstream_id': UUID.toUpperCase() },
      { ...group, 'accel:bitstream_id': UUID },
    ],
    [
      { ...group, 'accel:function_id': '3AFB' },
      { ...group, 'accel:function_id': '3AFB' },
    ],
    [
      { ...group, 'accel:vendor:speed-2': 7 },
      { ...group, 'accel:vendor:speed-2': '7' },
    ],
    [
      { ...group, 'accel:cleaning': 'required' },
      { ...group, 'accel:cleaning': 'required' },
    ],
    [
      { ...group, 'accel:cleaning': 'quarantine' },
      { ...group, 'accel:cleaning': 'quarantine' },
    ],
    [
      { ...group, 'accel:attach_target': 'host' },
      { ...group, 'accel:attach_target': 'host' },
    ],
    [
      { 'resources:VGPU': '1', 'resources:CUSTOM_GPU_MB': '8' },
      { 'resources:VGPU': '1', 'resources:CUSTOM_GPU_MB': '8' },
    ],
  ])('%o becomes %o', (given, expected) => expect(kept(profile({ groups: [given] })).groups).toEqual([expected]))

  test('what was kept once is kept unchanged ever after', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,30}$/)
    const amount = fc.integer({ min: 1, max: 51 })
    const entry = fc.oneof(
      fc.tuple(
        fc.stringMatching(/^trait: ?[cC]ustom[_-][a-zA-Z0-9_-]{1,8}$/),
        fc.constantFrom('required', 'forbidden'),
      ),
      fc.tuple(fc.stringMatching(/^accel:[a-z]{1,5}$/), fc.string()),
    )
    const any = fc.record({ name, groups: fc.array(fc.tuple(amount, fc.array(entry)), { minLength: 1, maxLength: 5 }) })
    fc.assert(
      fc.property(any, ({ name, groups }) => {
        const given = {
          name,
          groups: groups.map(([n, more]) => ({ 'resources:FPGA': n, ...Object.fromEntries(more) })),
        }
        const once = readProfile(given)
        fc.pre(once.ok)
        expect(readProfile([once.value])).toEqual(once)
      }),
    )
  })
})
