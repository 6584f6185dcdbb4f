/** The rules for fields of JSON from outside, on both sides of each limit. */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { Cleaned, isClean } from '../../src/vocabulary/cleaning.ts'
import {
  INT_MAX,
  count,
  isoMoment,
  line,
  moment,
  name,
  ordinal,
  prose,
  publicKey,
} from '../../src/vocabulary/fields.ts'
import { ReportedDeployable, ReportedDevice, ReportedHandle } from '../../src/vocabulary/hardware.ts'

/** The value as it is taken, or the message of the first rule that it breaks. */
const read = (schema: v.GenericSchema, value: unknown): unknown => {
  const got = v.safeParse(schema, value)
  return got.success ? { taken: got.output } : got.issues[0].message
}
const takes = (schema: v.GenericSchema, ...values: readonly unknown[]): void => {
  for (const value of values) expect(read(schema, value)).toEqual({ taken: value })
}
const refuses = (schema: v.GenericSchema, ...values: readonly unknown[]): void => {
  for (const value of values) expect(v.is(schema, value), JSON.stringify(value)).toBe(false)
}

describe('text', () => {
  test('of one line may be empty, a name may not, and prose has lines', () => {
    takes(line(3), '', 'abc')
    takes(name(3), 'a', 'abc')
    takes(prose(3), '', 'a\nb')
    refuses(line(3), 'abcd', 'a\nb', 5)
    refuses(name(3), '', 'abcd', 'a\nb', null)
    refuses(prose(3), 'abcd', 5)
  })
  test.each([
    ['\n', 'it holds a control character (U+000A)'],
    ['\u202e', 'it holds an invisible format character (U+202E)'],
    ['\u2028', 'it holds a line or paragraph separator (U+2028)'],
    ['\u2029', 'it holds a line or paragraph separator (U+2029)'],
    ['\ud800', 'it holds half of a surrogate pair (U+D800)'],
  ])('that is not seen is named wherever it stands: %j', (bad, why) => {
    for (const text of [bad, `a${bad}`, `${bad}a`, `a${bad}b`])
      expect([read(line(9), text), read(name(9), text)]).toEqual([why, why])
  })
})

describe('numbers', () => {
  const rule = `must be a whole number from 0 to ${INT_MAX}`
  test('of things fit into a column of the views', () => {
    expect(INT_MAX).toBe(2_147_483_647)
    takes(count, 0, 1, INT_MAX)
    for (const bad of [-1, 0.5, INT_MAX + 1]) expect(read(count, bad)).toBe(rule)
    refuses(count, '1', null, Number.NaN)
  })
  test('of a sequence count from 1 as far as numbers are exact', () => {
    takes(ordinal, 1, Number.MAX_SAFE_INTEGER)
    refuses(ordinal, 0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1)
  })
  test('of milliseconds are moments that a date can have', () => {
    takes(moment, 0, 0.5, 8_640_000_000_000_000)
    refuses(moment, -1, 8_640_000_000_000_001, Number.NaN, '0')
    expect(new Date(8_640_000_000_000_000).getTime()).toBe(8_640_000_000_000_000)
  })
})

test('a moment as text is in UTC, to the nanosecond at most, and exists', () => {
  takes(isoMoment, '2026-03-01T08:15:30Z', '2026-03-01T08:15:30.1Z', '2026-03-01T08:15:30.123456789Z')
  const form = 'must be a moment in ISO 8601, in UTC'
  for (const bad of [
    '',
    '2026-03-01',
    '2026-03-01T08:15Z',
    '2026-03-01T08:15:30',
    '2026-03-01T08:15:30+00:00',
    '2026-03-01T08:15:30.Z',
    '2026-03-01T08:15:30.1234567890Z',
    '12026-03-01T08:15:30Z',
    'x2026-03-01T08:15:30Z',
    '2026-03-01T08:15:30Zx',
    '2026-03-01T08:15:30Z\n',
  ])
    expect(read(isoMoment, bad), bad).toBe(form)
  for (const bad of ['2026-13-01T08:15:30Z', '2026-03-01T25:15:30Z', '2026-03-32T08:15:30Z'])
    expect(read(isoMoment, bad), bad).toBe('must be a moment that exists')
})
test('a public key is 32 bytes in base64url', () => {
  const key = Buffer.alloc(32, 255).toString('base64url')
  takes(publicKey, key, Buffer.alloc(32).toString('base64url'))
  for (const bad of ['', key.slice(1), `${key}A`, `A${key}`, `${key.slice(0, -1)}B`, `${key}\n`, `${key}=`])
    expect(read(publicKey, bad), bad).toBe('must be a public key: 43 characters of base64url')
})

const times = (length: number, one: object): readonly object[] => Array.from({ length }, () => one)
describe('the hardware of a report', () => {
  const handle = { type: 'PCI', info: { bus: '0c' }, physfn: '0000:0c:00.0', set: 0 }
  const deployable = {
    name: 'n',
    parent: 'p',
    kind: 'vf',
    numAccelerators: 1,
    driverName: 'd',
    attributes: [{ key: 'k', value: '', parent: 0 }],
    handles: [handle],
    hostWork: true,
    programmable: false,
    bitstreamId: '',
    cleaning: 'by_host',
  }
  const device = {
    type: 'FPGA',
    vendor: 'v',
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: '',
    controlPath: { type: 'PATH', info: '/dev/x' },
    deployables: [deployable],
    stub: true,
  }
  const without = (whole: object, name: string) =>
    Object.fromEntries(Object.entries(whole).filter(([each]) => each !== name))
  const OPTIONAL = ['physfn', 'set', 'parent', 'kind', 'bitstreamId', 'cleaning', 'stub']
  test.each<[string, v.GenericSchema, object]>([
    ['an attach handle', ReportedHandle, handle],
    ['a deployable', ReportedDeployable, deployable],
    ['a device', ReportedDevice, device],
  ])('%s is taken whole, and only some of its fields may be absent', (_, schema, whole) => {
    takes(schema, whole)
    for (const field of Object.keys(whole))
      expect([field, v.is(schema, without(whole, field))]).toEqual([field, OPTIONAL.includes(field)])
  })
  test.each<[string, v.GenericSchema, object, readonly unknown[], readonly unknown[]]>([
    ['type', ReportedHandle, handle, ['PCI', 'MDEV', 'TEST_PCI'], ['USB', '']],
    [
      'info',
      ReportedHandle,
      handle,
      [{}, { ['k'.repeat(100)]: 'v'.repeat(1000) }],
      [{ ['k'.repeat(101)]: '' }, { k: 'v'.repeat(1001) }, { k: 5 }],
    ],
    ['physfn', ReportedHandle, handle, ['f'.repeat(100)], ['', 'f'.repeat(101)]],
    ['name', ReportedDeployable, deployable, ['n'.repeat(1000)], ['', 'n'.repeat(1001)]],
    ['parent', ReportedDeployable, deployable, ['n'.repeat(1000)], ['', 'n'.repeat(1001)]],
    ['kind', ReportedDeployable, deployable, ['root', 'region', 'pf', 'vf', 'mdev type'], ['card']],
    ['driverName', ReportedDeployable, deployable, ['d'.repeat(100)], ['', 'd'.repeat(101)]],
    ['bitstreamId', ReportedDeployable, deployable, ['b'.repeat(100)], ['b'.repeat(101)]],
    ['cleaning', ReportedDeployable, deployable, ['by_host', 'by_operator'], ['by_nobody']],
    ['handles', ReportedDeployable, deployable, [times(4096, handle)], [times(4097, handle)]],
    ['type', ReportedDevice, device, ['GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD'], ['TPU']],
    ['vendor', ReportedDevice, device, ['v'.repeat(255)], ['', 'v'.repeat(256)]],
    ['model', ReportedDevice, device, ['m'.repeat(255)], ['', 'm'.repeat(256)]],
    ['stdBoardInfo', ReportedDevice, device, ['i'.repeat(65_535)], ['i'.repeat(65_536)]],
    ['vendorBoardInfo', ReportedDevice, device, ['i'.repeat(65_535)], ['i'.repeat(65_536)]],
    ['deployables', ReportedDevice, device, [times(1000, deployable)], [times(1001, deployable)]],
    [
      'controlPath',
      ReportedDevice,
      device,
      [
        { type: 'PCI', info: 'x' },
        { type: 'PATH', info: `/${'x'.repeat(4095)}` },
      ],
      [
        { type: 'PCI', info: '' },
        { type: 'PCI', info: 'x'.repeat(65_536) },
        { type: 'PATH', info: 'dev/' },
        { type: 'PATH', info: `/${'x'.repeat(4096)}` },
        { type: 'USB', info: '/x' },
      ],
    ],
  ])('%s has its limits', (field, schema, whole, good, bad) => {
    takes(schema, ...good.map((value) => ({ ...whole, [field]: value })))
    refuses(schema, ...bad.map((value) => ({ ...whole, [field]: value })))
  })
  test('attributes have their limits', () => {
    const of = (...attributes: readonly object[]) => ({ ...deployable, attributes })
    const one = { key: 'k', value: 'v' }
    takes(ReportedDeployable, of({ key: 'k'.repeat(255), value: 'v'.repeat(65_535) }), of(...times(1000, one)))
    refuses(ReportedDeployable, of({ key: '', value: 'v' }), of({ key: 'k'.repeat(256), value: '' }))
    refuses(ReportedDeployable, of({ key: 'k', value: 'v'.repeat(65_536) }), of(...times(1001, one)))
  })
})

describe('the evidence of a cleaning', () => {
  const cleaned = {
    command: '/bin/wipe',
    startedAt: 1,
    finishedAt: 2,
    exitCode: 0,
    outputSha256: 'ab'.repeat(32),
    outputBytes: 0,
    output: '',
  }
  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ['exitCode', [null, 0, 255], [-1, 256, 0.5, undefined]],
    [
      'outputSha256',
      ['0123456789abcdef'.repeat(4)],
      ['AB'.repeat(32), 'ab'.repeat(31), `${'ab'.repeat(32)}0`, `g${'a'.repeat(63)}`],
    ],
    ['outputBytes', [Number.MAX_SAFE_INTEGER], [-1, 0.5, Number.MAX_SAFE_INTEGER + 1]],
    ['output', ['o'.repeat(1000)], ['o'.repeat(1001)]],
    ['command', ['', 'c'.repeat(1000)], ['c'.repeat(1001)]],
  ])('%s has its limits', (field, good, bad) => {
    takes(Cleaned, ...good.map((value) => ({ ...cleaned, [field]: value })))
    refuses(Cleaned, ...bad.map((value) => ({ ...cleaned, [field]: value })))
  })
  test('names the rule of a digest that is none', () =>
    expect(read(Cleaned, { ...cleaned, outputSha256: 'x' })).toBe('must be a SHA-256 in hex'))
  test('CLEAN-1 counts as clean only with exit code 0', () => {
    const codes = [0, 1, 255, null].map((exitCode) => isClean({ ...cleaned, exitCode }))
    expect([isClean(undefined), ...codes]).toEqual([false, true, false, false, false])
  })
})
