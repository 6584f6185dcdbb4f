/** What the handler of a route is told, on a route of the test's own that needs no identity and has no version. */
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { noauth } from '../../src/http/identity.ts'
import { mount } from '../../src/http/mount.ts'
import { withDefaults } from '../../src/http/options.ts'
import { pathOf } from '../../src/http/paths.ts'
import { readPolicy } from '../../src/http/policy/policy.ts'
import { reply, route } from '../../src/http/route.ts'
import type { Call } from '../../src/http/route.ts'
import { silent } from '../../src/log.ts'
import { untraced } from '../../src/trace.ts'
import { as, send, version } from './steps.ts'
import { uuid } from './toldControl.ts'

const calls: Pick<Call<{}, unknown>, 'caller' | 'minor' | 'may' | 'query'>[] = []
const row = route({
  method: 'GET',
  path: '/healthz',
  rule: null,
  docs: { summary: '', answers: { 204: null } },
  handle: (call) => {
    calls.push(call)
    return reply(204)
  },
})
const app = (() => {
  const options = withDefaults({})
  const nothing = {} as never
  return mount(new Hono({ getPath: pathOf }), [row], {
    control: nothing,
    events: nothing,
    system: nothing,
    streams: nothing,
    places: nothing,
    options,
    policy: readPolicy(options.policy),
    gate: () => null,
    identify: noauth,
    ids: { uuid: () => uuid(1), ordered: () => uuid(2) },
    clock: { now: () => 0, monotonic: () => 5000, after: () => () => {} },
    hindered: () => 'the database does not answer',
    about: () => ({}),
    log: silent,
    observe: null,
    tracer: untraced,
  })
})()

test('nobody is its caller, whoever sends the request, and its version is the lowest, whatever is asked for', async () => {
  const got = await send(app, 'GET /healthz', { headers: { ...as('admin'), ...version('latest') } })
  expect(got.status).toBe(204)
  const [call] = calls.splice(0)
  const nobody = { userId: '', projectId: '', isAdmin: false, isService: false, requestId: `req-${uuid(1)}` }
  expect([call!.caller, call!.minor, call!.query]).toEqual([
    { ...nobody, notAfter: 18_000, isOver: expect.any(Function) },
    0,
    {},
  ])
  expect(call!.may('cyborg:device:get_all')).toBe(false)
})

test('what is not there beside it is refused whatever version is asked for, and no version is told', async () => {
  const got = await send(app, 'PUT /healthz', { headers: { ...as('admin'), ...version(99) } })
  expect([
    got.status,
    got.headers.get('allow'),
    got.headers.get('openstack-api-version'),
    got.headers.get('vary'),
  ]).toEqual([405, 'GET, HEAD', null, null])
})
