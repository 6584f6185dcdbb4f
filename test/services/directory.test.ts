/** Who owns a resource provider, and which host has a name: what is remembered, for how long, and what is not. */
import { expect, test } from 'vitest'
import { type Outcome, done, refuse } from '../../src/fault.ts'
import type { Binding } from '../../src/actors/control.ts'
import { createDirectory } from '../../src/services/kernel/directory.ts'
import type { Readers } from '../../src/services/kernel/readers.ts'
import { handClock, quiet } from '../support/lab.ts'

const FAULT = refuse({ kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 })
const HOSTS = [
  { name: 'h1', aliases: ['node-1', 'h2'] },
  { name: 'h2', aliases: ['node-2'] },
]
const binding = (deviceRpUuid: string, hostname: string): Binding => ({
  arq: 'arq',
  hostname,
  deviceRpUuid,
  instanceUuid: 'instance',
})

const opened = () => {
  const clock = handClock()
  const asked: string[] = []
  const world: { fails: string | null; gate: Promise<void>; owner: string } = {
    fails: null,
    gate: Promise.resolve(),
    owner: 'root',
  }
  const answer = async <Value>(line: string, value: Value): Promise<Outcome<Value>> => {
    asked.push(line)
    await world.gate
    return world.fails === line ? FAULT : done(value)
  }
  const readers = {
    list: async (view: string, where: object) =>
      view === 'hosts'
        ? answer('hosts', { items: HOSTS, next: null })
        : answer(`below ${JSON.stringify(where)}`, { items: [{ uuid: 'one' }, { uuid: 'two' }], next: null }),
    first: async (_view: string, where: { readonly rp_uuid: string }) =>
      answer(`owner ${where.rp_uuid}`, where.rp_uuid === 'unknown' ? null : { uuid: world.owner }),
  } as unknown as Readers
  return { clock, asked, world, directory: createDirectory({ readers, clock }) }
}
const target = (one: Binding, host: string | null, deployable = 'root') => ({
  ...one,
  deployable,
  below: ['one', 'two'],
  host,
})

test('a name of its own counts more than an alias of another host, and an unknown name is none', async () => {
  const { directory } = opened()
  const all = ['h1', 'h2', 'node-1', 'node-2', 'h3'].map((name) => binding('rp', name))
  expect(await directory.find(all)).toEqual(
    done([
      target(all[0]!, 'h1'),
      target(all[1]!, 'h2'),
      target(all[2]!, 'h1'),
      target(all[3]!, 'h2'),
      target(all[4]!, null),
    ]),
  )
})
test('an owner is remembered until it is forgotten, and each provider has its own', async () => {
  const { directory, asked, world } = opened()
  const [one, other] = [binding('rp', 'h1'), binding('rp2', 'h1')]
  await directory.find([one, other, one])
  expect(asked).toEqual(['hosts', 'owner rp', 'below {"root_uuid":"root"}', 'owner rp2', 'below {"root_uuid":"root"}'])
  world.owner = 'another'
  expect(await directory.find([one])).toEqual(done([target(one, 'h1')]))
  directory.forget([other])
  expect(await directory.find([one, other])).toEqual(done([target(one, 'h1'), target(other, 'h1', 'another')]))
})
test('the names are read again after ten seconds, and once for all who ask meanwhile', async () => {
  const { clock, directory, asked, world } = opened()
  const one = binding('rp', 'h1')
  let open = () => {}
  world.gate = new Promise((resolve) => (open = resolve))
  const both = Promise.all([directory.find([one]), directory.find([one])])
  await quiet()
  expect(asked).toEqual(['hosts'])
  open()
  expect(await both).toEqual([done([target(one, 'h1')]), done([target(one, 'h1')])])
  asked.length = 0
  await clock.pass(9999)
  await directory.find([one])
  expect(asked).toEqual([])
  await clock.pass(1)
  await directory.find([one])
  expect(asked).toEqual(['hosts'])
})
test('nothing that failed is remembered', async () => {
  const { directory, asked, world } = opened()
  const one = binding('rp', 'h1')
  for (const line of ['hosts', 'owner rp', 'below {"root_uuid":"root"}']) {
    world.fails = line
    expect(await directory.find([one])).toEqual(FAULT)
  }
  world.fails = null
  asked.length = 0
  expect(await directory.find([one])).toEqual(done([target(one, 'h1')]))
  expect(asked).toEqual(['owner rp', 'below {"root_uuid":"root"}'])
})
test('a provider without an owner is named', async () => {
  const { directory, world } = opened()
  const all = [binding('rp', 'h1'), binding('unknown', 'h1')]
  const missing = refuse({ kind: 'not_found', resource: 'resource provider', id: 'unknown' })
  expect(await directory.find(all)).toEqual(missing)
  world.owner = 'another'
  expect(await directory.find(all.toReversed())).toEqual(missing)
})
