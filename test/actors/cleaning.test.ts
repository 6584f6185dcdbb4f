/** CLEAN: from the unbind to the next bind, through the services, over each store. */
import type { ReportedDeployable } from '../../src/vocabulary/hardware.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { OrderResult } from '../../src/wire/reports.ts'
import { describeWith } from '../support/needs.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Pool, ownPostgresPool, pglitePool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const CARD = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 1 }] }
const NOTE = { by: 'op', reason: 'looked at it' }
const evidence = (exitCode: number) => ({
  command: '/sbin/wipe',
  startedAt: 10,
  finishedAt: 20,
  exitCode,
  outputSha256: 'ab'.repeat(32),
  outputBytes: 3,
  output: 'ok\n',
})
const DONE: OrderResult['result'] = { status: 'done', cleaned: evidence(0) }
const FAILED: OrderResult['result'] = { status: 'failed', reason: 'cleaning failed', final: true, cleaned: evidence(3) }

const over = (pool: Pool): void => {
  // the first one takes longer than a test may
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)

  const opened = async (
    cleaning: NonNullable<ReportedDeployable['cleaning']> | undefined,
    asked: Readonly<Record<string, string>> = {},
  ) => {
    const clock = handClock()
    const store = await pool.take(clock.now)
    const cloud = await openCloud(CARD, { 'resources:PGPU': '1', ...asked }, { clock }, store, 'when told')
    const devices = await cloud.discovered('h1', CARD)
    const told = (all: typeof devices) =>
      cloud.report('h1', [{ driver: 'simulated_driver', status: 'ok', devices: all }])
    const described = (policy: NonNullable<ReportedDeployable['cleaning']> | undefined) =>
      devices.map((one) => ({
        ...one,
        deployables: one.deployables.map((each) => (policy === undefined ? each : { ...each, cleaning: policy })),
      }))
    /** Its host reports this policy, or none. */
    const chosen = (policy: NonNullable<ReportedDeployable['cleaning']> | undefined) => told(described(policy))
    /** Its host reports the card at that PCI domain; null: it does not report it. */
    const seenAt = (domain: string | null) =>
      told(domain === null ? [] : JSON.parse(JSON.stringify(described(cleaning)).replaceAll('acc0', domain)))
    await chosen(cleaning)
    /** Answers all that its host was ordered. */
    const work = async (result: OrderResult['result'] = { status: 'done' }) => {
      await cloud.pump()
      const orders = cloud.orders.splice(0)
      for (const order of orders) await cloud.answer(order, result)
      return orders
    }
    const givenUp = async () => {
      const { arq } = await cloud.start()
      await work()
      value(await cloud.control.arqs.unbind(NOVA, [arq]))
      return arq
    }
    const handle = async () => value(await cloud.control.handles.get(NOVA, (await cloud.handles())[0]!.uuid))
    const stop = async () => {
      expect(check({ journal: await store.journal.feed('', 10_000), now: clock.now() })).toEqual([])
      await expectRebuilt(store)
      await cloud.stop()
      await store.close()
    }
    return { ...cloud, clock, chosen, seenAt, work, givenUp, handle, stop }
  }

  test('the unbind is answered at once, and the handle is free when its host has proved that it is clean', async () => {
    const cloud = await opened('by_host')
    const arq = await cloud.givenUp()
    expect(value(await cloud.control.arqs.get(NOVA, arq))).toMatchObject({ state: 'Unbound', handle_uuid: null })
    expect(await cloud.handle()).toMatchObject({ state: 'releasing', cleaning: { due: 'by_host', underWay: true } })
    expect(await cloud.bind(await cloud.create(), '00000000-0000-4000-8000-0000000000b1')).toMatchObject({
      ok: false,
      fault: { kind: 'conflict', reason: expect.stringContaining('no free attach handle') },
    })
    const [order] = await cloud.work(DONE)
    expect(order).toMatchObject({ type: 'ReleaseSlot', clean: true })
    expect(await cloud.handle()).toMatchObject({
      state: 'free',
      cleaning: { due: 'by_host', policy: 'by_host', underWay: false, last: evidence(0) },
    })
    value(await cloud.bind(await cloud.create(), '00000000-0000-4000-8000-0000000000b2'))
    await cloud.stop()
  })
  test('a result that is told twice changes nothing', async () => {
    const cloud = await opened('by_host')
    await cloud.givenUp()
    const [order] = await cloud.work(FAILED)
    await cloud.answer(order!, DONE)
    expect(await cloud.handle()).toMatchObject({ state: 'quarantined', cleaning: { last: evidence(3) } })
    await cloud.stop()
  })
  test('a cleaning that fails leaves the handle withheld, until it is cleaned again', async () => {
    const cloud = await opened('by_host')
    const arq = await cloud.givenUp()
    await cloud.work(FAILED)
    const { uuid, quarantine } = await cloud.handle()
    expect(quarantine).toMatchObject({ by: 'policy of cleaning', reason: 'cleaning failed' })
    expect(await cloud.states([arq])).toEqual(['UnbindFailed'])
    expect(value(await cloud.control.handles.clean(NOVA, uuid, NOTE))).toMatchObject({
      state: 'releasing',
      cleaning: { underWay: true, last: evidence(3) },
    })
    await cloud.work(DONE)
    expect(await cloud.handle()).toMatchObject({ state: 'free', quarantine: null, cleaning: { last: evidence(0) } })
    expect(await cloud.states([arq])).toEqual(['Unbound'])
    await cloud.stop()
  })
  test.each([
    ['has moved', ['acc7'], 'h1_acc7:00:00.0'],
    ['was away', [null, 'acc0'], 'h1_acc0:00:00.0'],
    ['was away and is elsewhere now', [null, 'acc7'], 'h1_acc7:00:00.0'],
  ])(
    'a release that failed because its card %s is given again when a report shows where it is',
    async (_, seen, name) => {
      const cloud = await opened('by_host')
      await cloud.givenUp()
      const elsewhere: OrderResult['result'] = {
        status: 'failed',
        reason: 'another card is in its place',
        final: false,
      }
      for (let n = 0; n < 3; n++) expect(await cloud.work(elsewhere)).toHaveLength(1)
      await cloud.clock.pass(10_000)
      expect([await cloud.work(), await cloud.handle()]).toMatchObject([[], { quarantine: { by: 'failed release' } }])
      for (const domain of seen) await cloud.seenAt(domain)
      const worked = async () => {
        await cloud.clock.pass(10_000)
        return cloud.work(DONE)
      }
      await expect
        .poll(worked, { timeout: 10_000 })
        .toMatchObject([{ type: 'ReleaseSlot', clean: true, deployable: name }])
      expect(await cloud.handle()).toMatchObject({ state: 'free', cleaning: { last: evidence(0) } })
      await cloud.stop()
    },
  )
  test('or until an operator declares it clean', async () => {
    const cloud = await opened('by_host')
    await cloud.givenUp()
    // as a host of an earlier release answers
    await cloud.work()
    const { uuid, quarantine } = await cloud.handle()
    expect(quarantine?.reason).toBe('its host has released it and does not say that it was cleaned')
    expect(value(await cloud.control.handles.release(NOVA, uuid, NOTE))).toMatchObject({ state: 'free' })
    await cloud.stop()
  })
  test('where operators clean, what is given up waits for one', async () => {
    const cloud = await opened('by_operator')
    await cloud.givenUp()
    await cloud.work()
    const { uuid, state, quarantine } = await cloud.handle()
    expect([state, quarantine?.by]).toEqual(['quarantined', 'policy of cleaning'])
    expect(await cloud.control.handles.clean(NOVA, uuid, NOTE)).toMatchObject({ ok: false })
    expect(value(await cloud.control.handles.release(NOVA, uuid, NOTE))).toMatchObject({ state: 'free' })
    await cloud.stop()
  })
  test('what its host was to clean is withheld when the host has lost its policy, however often the release is tried', async () => {
    const cloud = await opened('by_host')
    await cloud.givenUp()
    const stuck = { status: 'failed', reason: 'the device is busy', final: false } as const
    for (let tries = 0; tries < 3; tries++) await cloud.work(stuck)
    expect(await cloud.handle()).toMatchObject({
      state: 'quarantined',
      quarantine: { by: 'failed release', reason: 'the device is busy' },
    })
    await cloud.chosen(undefined)
    await cloud.clock.pass(300_000)
    await cloud.plane.sweeper.round()
    await cloud.plane.sweeper.idle()
    expect(await cloud.work()).toMatchObject([{ type: 'ReleaseSlot' }])
    expect(await cloud.handle()).toMatchObject({
      state: 'quarantined',
      quarantine: { by: 'policy of cleaning', reason: expect.stringContaining('has neither a command nor a playbook') },
    })
    expect(await cloud.bind(await cloud.create(), '00000000-0000-4000-8000-0000000000b3')).toMatchObject({ ok: false })
    const { uuid } = await cloud.handle()
    expect(value(await cloud.control.handles.release(NOVA, uuid, NOTE))).toMatchObject({ state: 'free' })
    await cloud.stop()
  })
  test('where a profile asks for it and its host has no policy, an operator cleans, also when the profile is gone', async () => {
    const cloud = await opened(undefined, { 'accel:cleaning': 'required' })
    const { arq } = await cloud.start()
    await cloud.work()
    expect(await cloud.handle()).toMatchObject({ cleaning: { due: 'by_operator', last: null } })
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.control.arqs.remove(NOVA, [arq]))
    value(await cloud.control.profiles.remove(NOVA, ['p']))
    await cloud.work()
    const { uuid, state, quarantine } = await cloud.handle()
    expect([state, quarantine]).toEqual([
      'quarantined',
      expect.objectContaining({
        by: 'policy of cleaning',
        reason: 'it was given up, and an operator has to clean it: the device profile of its last request asks for it',
      }),
    ])
    expect(value(await cloud.control.handles.release(NOVA, uuid, NOTE))).toMatchObject({
      state: 'free',
      cleaning: { due: null },
    })
    await cloud.stop()
  })
  test('where a profile asks for it and its host cleans, that is enough', async () => {
    const cloud = await opened('by_host', { 'accel:cleaning': 'required' })
    await cloud.givenUp()
    await cloud.work(DONE)
    expect(await cloud.handle()).toMatchObject({ state: 'free', cleaning: { last: evidence(0) } })
    await cloud.stop()
  })
  test('where a profile asks for a quarantine, its host cleans and an operator decides', async () => {
    const cloud = await opened('by_host', { 'accel:cleaning': 'quarantine' })
    await cloud.givenUp()
    await cloud.work(DONE)
    expect(await cloud.handle()).toMatchObject({ state: 'quarantined', cleaning: { last: evidence(0) } })
    await cloud.stop()
  })
}

const inMemory: Pool = { take: async (now) => memoryStore({ now }), end: async () => {} }
describe('over the store in memory', () => over(inMemory))
describe('over PGlite', () => over(pglitePool()))
describeWith('postgres', 'over PostgreSQL', (bin) => over(ownPostgresPool(bin)))
