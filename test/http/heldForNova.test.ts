/** What Nova asks only once: the requests of a server while its bind is under way, and a bind while a host releases. */
import { expect, test } from 'vitest'
import { done, refuse } from '../../src/vocabulary/fault.ts'
import { as, version } from './steps.ts'
import { tell } from './toldControl.ts'

const INSTANCE = '5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c11'
const row = (state: string) => ({ uuid: INSTANCE, state, created_at: 0, updated_at: null, handle_info: null })
/** The states that are read one after the other; the last one stays. */
const reading = (...states: readonly string[]) => {
  const left = [...states]
  return { 'arqs.list': async () => done({ items: [row(left.length > 1 ? left.shift()! : left[0]!)], next: null }) }
}
const NOVA = as('admin', { 'X-Service-Roles': 'service', ...version('latest') })
const read = async (query: string, states: readonly string[], sent = NOVA) => {
  const { got, asked } = await tell(`GET /v2/accelerator_requests${query}`, reading(...states), sent)
  return { state: got.json.arqs[0].state as string, reads: asked.length }
}

test('a service that reads the requests of an instance is answered when its bind has ended', async () => {
  expect(await read(`?instance=${INSTANCE}`, ['BindStarted', 'BindStarted', 'Bound'])).toEqual({
    state: 'Bound',
    reads: 3,
  })
  expect(await read(`?instance=${INSTANCE}`, ['Bound'])).toEqual({ state: 'Bound', reads: 1 })
})
test.each<readonly [who: string, query: string, sent: typeof NOVA]>([
  ['a service that asks for resolved ones', `?instance=${INSTANCE}&bind_state=resolved`, NOVA],
  ['a service that names no instance', '', NOVA],
])('%s is answered at once', async (_, query, sent) => {
  expect(await read(query, ['BindStarted', 'Bound'], sent)).toEqual({ state: 'BindStarted', reads: 1 })
})

const passing = refuse({ kind: 'conflict', reason: 'no free attach handle', passing: true })
const final = refuse({ kind: 'conflict', reason: 'no free attach handle' })
test.each<readonly [what: string, answers: readonly object[], status: number, asks: number]>([
  ['waits while the host is at work on what it needs', [passing, passing, done(null)], 202, 3],
  ['is refused at once where no host is at work', [final, done(null)], 409, 1],
  ['is refused as soon as no host is at work any more', [passing, final, done(null)], 409, 2],
])('a bind %s', async (_, answers, status, asks) => {
  const left = [...answers]
  const values = { hostname: 'h', device_rp_uuid: INSTANCE, instance_uuid: INSTANCE }
  const body = { [INSTANCE]: Object.entries(values).map(([name, value]) => ({ path: `/${name}`, op: 'add', value })) }
  const { got, asked } = await tell(
    'PATCH /v2/accelerator_requests',
    { 'arqs.bind': async () => left.shift() },
    { ...NOVA, body },
  )
  expect([got.status, asked.length]).toEqual([status, asks])
})
