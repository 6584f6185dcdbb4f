/** Which images are for which hardware (data-model.md 9.4). */
import { describe, expect, test } from 'vitest'
import { isForAny, misfitOf, vendorName } from '../src/vocabulary/imageFits.ts'
import { imageOf } from './support/images.ts'

const image = (properties: Readonly<Record<string, string>>) => ({ ...imageOf('i'), properties })

describe('the name of a vendor', () => {
  test.each([
    ['Xilinx', 'XILINX'],
    [' xilinx ', 'XILINX'],
    ['Xilinx, Inc.', 'XILINX'],
    ['10ee', 'XILINX'],
    ['0x10EE', 'XILINX'],
    ['AMD', 'XILINX'],
    ['1002', 'XILINX'],
    ['Intel Corporation', 'INTEL'],
    ['8086', 'INTEL'],
    ['Altera', 'INTEL'],
    ['0x1bd4', 'INSPUR'],
    ['inspur', 'INSPUR'],
    ['0xABCD', null],
    ['', null],
  ])('%j is %j', (told, name) => expect(vendorName(told)).toBe(name))
})

describe('an image', () => {
  const hardware: Readonly<Record<string, string>> = {
    board: 'KU115',
    region_uuid: '9926ab6d6c925a68aabca7d84c545738',
    version: '1.0',
    'bs-uuid': '00000000-0000-4000-8000-00000000000A',
  }
  const told = (properties: Readonly<Record<string, string>>, purpose: 'bind' | 'program' = 'bind', has = hardware) =>
    misfitOf(image(properties), { vendor: '0x10ee', attribute: (key) => has[key] ?? null }, purpose)
  test.each<[string, Readonly<Record<string, string>>]>([
    ['says nothing', {}],
    ['is of the vendor', { vendor: 'AMD' }],
    ['is of a vendor that nobody knows', { vendor: 'Acme' }],
    ['is for the board', { board: 'ku115 ' }],
    ['is for the type of region', { region_uuid: '9926AB6D-6C92-5A68-AABC-A7D84C545738' }],
    ['is for the version', { version: '1.0' }],
    ['is for the loaded shell', { shell_id: '0000000000004000800000000000000a' }],
    ['says what has nothing to do with it', { driver: 'SDX', topology: '{}' }],
  ])('that %s may be loaded', (_, properties) => expect(told(properties)).toBe(null))
  test.each<[Readonly<Record<string, string>>, string]>([
    [{ vendor: 'Intel' }, 'it is for vendor Intel, and this is XILINX'],
    [{ board: 'KU11' }, 'it is for board KU11, and this is KU115'],
    [{ region_uuid: 'r2' }, 'it is for region_uuid r2, and this is 9926ab6d6c925a68aabca7d84c545738'],
    [{ version: '1.1' }, 'it is for version 1.1, and this is 1.0'],
    [{ shell_id: 's2' }, 'it is for shell_id s2, and this is 00000000-0000-4000-8000-00000000000A'],
  ])('%j is for other hardware', (properties, why) => {
    expect([told(properties), told(properties, 'program')]).toEqual([why, why])
  })
  test('is not compared with what the hardware does not say', () => {
    const all = { board: 'x', region_uuid: 'x', version: 'x', shell_id: 'x' }
    expect(told(all, 'bind', {})).toBe(null)
    expect(misfitOf(image({ vendor: 'Intel' }), { vendor: '0xABCD', attribute: () => null }, 'bind')).toBe(null)
  })
  test('is compared with the shell by its own id first', () => {
    expect(told({ shell_id: 's' }, 'bind', { ...hardware, shell_id: 'S' })).toBe(null)
  })
  test.each(['', 'null', 'None'])('with shell_id %j is a shell, which is not loaded, whoever asks for it', (shell) => {
    expect([told({ shell_id: shell }), told({ shell_id: shell }, 'program')]).toEqual([
      'it is a shell, which only the tool of its vendor loads',
      'it is a shell, which only the tool of its vendor loads',
    ])
    expect(told({ shell_id: shell, vendor: 'Intel' }, 'program')).toBe('it is for vendor Intel, and this is XILINX')
  })
  test.each(['', 'NULL', ' none ', 'N/A', 'nil', '-'])('with shell_id %j is a shell in any spelling', (shell) =>
    expect(told({ shell_id: shell })).toBe('it is a shell, which only the tool of its vendor loads'),
  )
  const FUNCTIONS = '{"pf_num": 1, "vf_num": 0, "pf": [{"name": "p", "pci_offset": 0}]}'
  test('that divides the card is loaded by operators only, and is not loaded where the card holds it', () => {
    const dividing = { topology: FUNCTIONS }
    const why = 'it divides the card into functions, so only an operator loads it'
    expect([told(dividing), told(dividing, 'program')]).toEqual([why, null])
    const held = (loaded: string | null) =>
      misfitOf(image(dividing), { vendor: '0x10ee', attribute: () => null, loaded }, 'bind')
    expect([held('i'), held('other'), held(null)]).toEqual([null, why, why])
    expect(told({ ...dividing, vendor: 'Intel' })).toBe('it is for vendor Intel, and this is XILINX')
    expect(told({ ...dividing, shell_id: '' })).toBe(why)
    expect([isForAny(image(dividing)), isForAny(image({ topology: '{}' }))]).toEqual([false, true])
  })
  test('names its vendor by the present name of one that was bought', () => {
    const of = (wanted: string, vendor: string) =>
      misfitOf(image({ vendor: wanted }), { vendor, attribute: () => null }, 'bind')
    expect([of('AMD', 'xilinx'), of('Altera', '0x8086'), of('amd', '0x8086')]).toEqual([
      null,
      null,
      'it is for vendor amd, and this is INTEL',
    ])
  })
  test('is for any hardware when it names none', () => {
    expect(isForAny(image({ driver: 'SDX' }))).toBe(true)
    for (const key of ['vendor', 'board', 'region_uuid', 'version', 'shell_id'])
      expect(isForAny(image({ [key]: '' }))).toBe(false)
  })
})
