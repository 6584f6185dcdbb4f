/**
 * Patterns hold from the first character to the last: a valid value with one more character before or after it is not
 * valid.
 */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { EVENT_ID } from '../../src/actors/events.ts'
import { originThrough } from '../../src/http/forwarded.ts'
import { canonicalPath } from '../../src/http/paths.ts'
import { groupOf } from '../../src/http/routes/profileGroups.ts'
import { isProfileName } from '../../src/actors/profile/name.ts'
import { family, integer } from '../../src/http/query.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { canonicalUuid } from '../../src/uuid.ts'
import { negotiate } from '../../src/http/versions.ts'
import { silent } from '../../src/log.ts'
import { hexNumber, parsePciAddress } from '../../src/pci.ts'
import { Heartbeat } from '../../src/wire/reports.ts'
import { strictApp } from './app.ts'
import { send } from './steps.ts'

const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'

type Probe = {
  readonly of: string
  readonly takes: (text: string) => boolean | Promise<boolean>
  readonly valid: readonly string[]
  /** Characters of which none may stand before a valid value, and of which none may stand after it. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}
const both = (characters: readonly string[]) => ({ before: characters, after: characters })

const profileSchema = ROUTES.find((row) => row.method === 'POST' && row.path === '/v2/device_profiles')!.body!.schema
const changeSchema = ROUTES.find((row) => row.method === 'PATCH' && row.path === '/v2/device_profiles/:id')!.body!
  .schema
const group = (more: object) => groupOf({ 'resources:FPGA': 1, ...more }, 'group').ok
const heartbeat = (host: string) => ({
  type: 'Heartbeat',
  host,
  bootId: UUID,
  observedAt: 1,
  status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
})
/** The id of the caller's own caller, as the log has it. */
const causedBy = async (id: string): Promise<boolean> => {
  const noted: unknown[] = []
  const log = { ...silent, info: (fields: object) => void noted.push((fields as { caused_by?: string }).caused_by) }
  await send(strictApp({}, { log }).app, 'DELETE /v2/device_profiles', { headers: { 'X-OpenStack-Request-ID': id } })
  expect(noted).toHaveLength(1)
  return noted[0] === id
}
/** True when the actors were asked, and so nothing was wrong with the argument. */
const deployableId = async (id: string): Promise<boolean> => {
  const { app, asked } = strictApp()
  await send(app, `GET /v2/attributes?deployable_id=${encodeURIComponent(id)}`)
  return asked.length > 0
}
const ownHost = (name: 'x-forwarded-host' | 'x-forwarded-proto', text: string) =>
  originThrough('gopher://own', (asked) => (asked === name ? text : undefined))

const PROBES: readonly Probe[] = [
  {
    of: 'a UUID',
    takes: (text) => canonicalUuid(text) !== null,
    valid: [UUID, UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`],
    ...both(['0', 'a', 'g', ' ', '\n', '/']),
  },
  {
    of: 'the name of a profile',
    takes: isProfileName,
    valid: ['fpga', 'a', '_', UUID],
    ...both([' ', '\n', '.', '/', 'é', '\0']),
  },
  {
    of: 'the name of a profile in the printed schema',
    takes: (name) => v.safeParse(profileSchema, { name, groups: [{ 'resources:FPGA': 1 }] }).success,
    valid: ['fpga'],
    ...both([' ', '\n', '.', '/', 'é']),
  },
  { of: 'a request id', takes: causedBy, valid: [`req-${UUID}`], ...both(['0', 'a', 'g', '-']) },
  {
    of: 'an integer argument',
    takes: (text) => integer(1, '').read([text], 'limit').ok,
    valid: ['7', '10'],
    ...both(['x', ' ', '\n', '-', '+', '.', '٣']),
  },
  { of: 'the integer id of a deployable', takes: deployableId, valid: ['7', UUID], ...both(['x', ' ', '\n', '+']) },
  {
    of: 'an argument of the filters',
    takes: (name) => family(name) === 'filters',
    valid: ['filters.field', 'filters.value', 'filters[0].field'],
    ...both(['x', ' ', '\n', '.', '0']),
  },
  {
    of: 'a custom resource class',
    takes: (name) => group({ [`resources:${name}`]: 1 }),
    valid: ['CUSTOM_X', 'custom-x'],
    before: ['A', '_', '.', '0'],
    after: ['.', '/', 'é', '$'],
  },
  {
    of: 'a trait',
    takes: (name) => group({ [`trait:${name}`]: 'required' }),
    valid: ['CUSTOM_X', 'custom-x'],
    before: ['A', '_', '.', '0'],
    after: ['.', '/', 'é', '$'],
  },
  {
    of: 'the name of an accel value',
    takes: (name) => group({ [`accel:${name}`]: 'x' }),
    valid: ['x', 'vendor:speed-2'],
    ...both([' ', '\n', '.', '/', 'é']),
  },
  {
    of: 'an amount',
    takes: (amount) => groupOf({ 'resources:FPGA': amount }, 'group').ok,
    valid: ['1', ' 2 '],
    ...both(['x', '-', '+', '.', 'e']),
  },
  {
    of: 'a microversion',
    takes: (version) => negotiate(`accelerator ${version}`, 3).ok,
    valid: ['2.1', '2.0', 'latest'],
    before: ['0', '1', 'x', '.', '-', 'v'],
    after: ['x', '.', '-', '9'],
  },
  {
    of: 'a path beside the versioned ones',
    takes: (path) => canonicalPath(path) === path,
    valid: ['/healthz', '/openapi.json'],
    before: ['x', '/x', '/v3'],
    after: ['x', '.', '0', '/x'],
  },
  {
    of: 'a forwarded host',
    takes: (host) => ownHost('x-forwarded-host', host) !== 'gopher://own',
    valid: ['a.example', 'a.example:80', '[::1]:80', '[::1]'],
    before: ['/', '@', '%', ':'],
    after: ['/', '@', '%', ':', '?', ':x'],
  },
  {
    of: 'a forwarded scheme',
    takes: (proto) => ownHost('x-forwarded-proto', proto) !== 'gopher://own',
    valid: ['http', 'https', 'HTTPS'],
    before: ['x', ':', 's'],
    after: ['x', ':', 'S:'],
  },
  {
    of: 'a hexadecimal number',
    takes: (text) => hexNumber(text) !== null,
    valid: ['ff', '0xFF', '0'],
    before: ['g', ' ', '-', 'x', '\n'],
    after: ['g', ' ', '\n', '.', 'x'],
  },
  {
    of: 'a PCI address',
    takes: (text) => parsePciAddress(text) !== null,
    valid: ['00000000:3b:00.1', 'ABCDEF01:00:1f.7'],
    before: ['0', 'g', ' ', '\n', ':'],
    after: ['0', 'a', ' ', '\n', '.'],
  },
  {
    of: 'a short PCI address',
    takes: (text) => parsePciAddress(text) !== null,
    valid: ['0000:3b:00.1'],
    before: ['g', ' ', '\n', ':', '0x'],
    after: ['0', 'a', ' ', '\n', '.'],
  },
  {
    of: 'the id of an event',
    takes: (id) => EVENT_ID.test(id),
    valid: ['0', '1764150000-3-0123456789ab', '1764150000.5-3-0123456789ab'],
    before: ['x', '-', ' ', '\n', '.'],
    after: ['0', 'a', 'g', ' ', '\n'],
  },
  {
    of: 'the version of a profile in a change',
    takes: (version) => v.safeParse(changeSchema, { versions: { [version]: true }, reason: 'x' }).success,
    valid: ['1', '12'],
    before: ['0', '-', '+', ' ', '\n'],
    after: ['a', '.', ' ', '\n', '.0'],
  },
  {
    of: 'the name of a host on the bus',
    takes: (host) => v.safeParse(Heartbeat, heartbeat(host)).success,
    valid: ['node-7', 'größe'],
    ...both(['\0', '\n', '\r', '\u0085', '\ud800']),
  },
]

describe.each(PROBES)('$of', ({ takes, valid, before, after }) => {
  test.each(valid)('is %j', async (text) => expect(await takes(text)).toBe(true))
  test.each(before)('is nothing with %j before it', async (character) => {
    for (const text of valid) expect([text, await takes(character + text)]).toEqual([text, false])
  })
  test.each(after)('is nothing with %j after it', async (character) => {
    for (const text of valid) expect([text, await takes(text + character)]).toEqual([text, false])
  })
})

describe('the path of a route', () => {
  test.each([
    ['PUT /v2/devices', 405],
    ['PUT /v2/devicesx', 404],
    ['PUT /v2/devices/1/x', 404],
    ['PUT /v2/x/v2/devices', 404],
    ['PUT /xv2/devices', 404],
    ['PUT /openapixjson', 404],
  ])('%s: %d', async (line, status) => {
    expect((await send(strictApp().app, line)).status).toBe(status)
  })
})
