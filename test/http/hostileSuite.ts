/**
 * Any text and any number at every door, path, query, headers, bodies and reports of hosts, while a well-behaved client
 * and a well-behaved host work: they see nothing but their own answers.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import type { Hono } from 'hono'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { reportRecord } from '../../src/wire/message.ts'
import { card, shown } from '../actors/cards.ts'
import { imagesOf } from '../sim/images.ts'
import { memoryLog } from '../support/lab.ts'
import { inventoryOf } from '../support/reports.ts'
import { systemHere } from '../support/systemHere.ts'
import { bindBody, speaker, unbindBody } from './cloud.ts'
import { attacks, badReports } from './hostileInput.ts'
import { as, service } from './steps.ts'
import { signerOf } from '../support/keys.ts'

const SEED = 20_261_122
/** Beside those on each place of each route. */
const ATTACKS = 300
const REPORTS = 150
const AT_ONCE = 25
const WAITING = { timeout: 20_000 }

const open = async (store: Store) => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock, partitions: 1 })
  const system = await openSystem({ store, images: imagesOf(), nova: null, log, bus })
  const app: Hono = createApp({
    control: system.plane.control,
    system: systemHere({ app: () => app, store }),
    events: system.events,
    identify: noauth,
    log,
    // the three mistakes that are answered 500 on purpose are ordinary refusals here
    options: { compat: { tempestServerFaults: false } },
  })
  let number = 0
  const shows = (...cards: readonly ReportedDevice[]) => {
    const own = cards.map(({ deployables, ...card }) => ({
      ...card,
      deployables: deployables.map((one) => ({ ...one, name: one.name.replace(/^h1_/, 'good_') })),
    }))
    const report = inventoryOf('good', ++number, { drivers: [shown(...own)] })
    return bus.publish([signerOf('good').signed(reportRecord(report, `good/${number}`, 0))])
  }
  const close = async () => {
    await system.stop()
    await store.close()
  }
  return { app, bus, log, shows, close }
}
type World = Awaited<ReturnType<typeof open>>

/**
 * One bind as compute makes it, from the creation to the deletion. Every answer is the one that the contract promises.
 */
const life = async (client: ReturnType<typeof speaker>, profile: string, rpUuid: string) => {
  const [arqs, instance] = [await client.arqsOf(profile), randomUUID()]
  await client.must(202, 'PATCH /v2/accelerator_requests', { body: bindBody(arqs, rpUuid, instance, 'good') })
  const bound = await client.must(200, `GET /v2/accelerator_requests?instance=${instance}&bind_state=resolved`)
  expect(bound.json.arqs.map(({ uuid, state }: { uuid: string; state: string }) => [uuid, state])).toEqual([
    [arqs[0]!.uuid, 'Bound'],
  ])
  await client.must(202, 'PATCH /v2/accelerator_requests', { body: unbindBody(arqs) })
  expect(await client.arq(arqs[0]!.uuid)).toMatchObject({ state: 'Unbound', project_id: 'well' })
  await client.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`)
  await client.must(204, `DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`)
}

const attack = async ({ app, bus }: World): Promise<ReadonlyMap<number, number>> => {
  const answers = new Map<number, number>()
  const [requests, records] = [attacks(ATTACKS, SEED), badReports(REPORTS, SEED)]
  const steps = Math.ceil(requests.length / AT_ONCE)
  for (let step = 0; step < steps; step++) {
    // the others have their turns, as they would between two packets of the network
    await new Promise((resolve) => void setImmediate(resolve))
    const some = requests.slice(step * AT_ONCE, (step + 1) * AT_ONCE)
    await bus.publish(records.slice((step * REPORTS) / steps, ((step + 1) * REPORTS) / steps))
    await Promise.all(
      some.map(async ({ line, init }) => {
        const answer = await app.request(line, init)
        const text = await answer.text()
        const what = `${init.method} ${line.slice(0, 300)} ${(init.body ?? '').slice(0, 300)}: ${answer.status} ${text}`
        expect(answer.status, what).toBeLessThan(500)
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
      }),
    )
  }
  return answers
}

export const hostileSuite = (opened: () => Promise<Store>): void => {
  test(`a well-behaved client and host notice nothing (seed ${SEED})`, { timeout: 120_000 }, async () => {
    const world = await open(await opened())
    const client = speaker(world.app, { ...as('admin,manager,member', { 'X-Project-Id': 'well' }), ...service })
    const deployables = async () =>
      (await client.must(200, 'GET /v2/deployables')).json.deployables as { name: string; rp_uuid: string }[]
    await world.shows(card(1))
    await expect.poll(deployables, WAITING).toHaveLength(1)
    const [profile, rpUuid] = [await client.newProfile(), (await deployables())[0]!.rp_uuid]

    let [attacking, lives] = [true, 0]
    const work = async () => {
      for (; attacking; lives++) await life(client, profile, rpUuid)
    }
    const [answers] = await Promise.all([attack(world).finally(() => void (attacking = false)), work()])
    expect(lives).toBeGreaterThan(1)
    expect([...answers.keys()].filter((status) => status >= 400).length).toBeGreaterThan(3)

    // the next report of the host is recorded at once, and every list can be read
    await world.shows(card(1), card(2))
    const names = async () => (await deployables()).map(({ name }) => name).filter((name) => name.startsWith('good_'))
    await expect.poll(names, WAITING).toEqual(['good_1', 'good_2'])
    for (const path of ['accelerator_requests', 'device_profiles', 'devices', 'attributes', 'hosts', 'handles'])
      await client.must(200, `GET /v2/${path}`)
    expect(world.log.said.filter(({ level }) => level === 'error')).toEqual([])
    await world.close()
  })
}
