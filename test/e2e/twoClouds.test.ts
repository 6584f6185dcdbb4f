/** Two clouds on one broker, with the same topics, and a host of each under the same name: neither harms the other. */
import { expect, test } from 'vitest'
import { openSystem } from '../../src/cli/programs/system.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { inventoryOf } from '../support/reports.ts'
import { reportRecord } from '../../src/wire/message.ts'
import { newPrivateKey } from '../../src/wire/signature.ts'
import { memoryLog, until } from '../support/lab.ts'
import { noCatalogue } from '../support/images.ts'
import { signerOf } from '../support/keys.ts'

const open = async (log: ReturnType<typeof memoryLog>) => {
  const bus = inProcessBus({ clock: systemClock })
  const store = memoryStore()
  const images = noCatalogue()
  const system = await openSystem({ store, images, nova: null, log, bus })
  const hosts = async () => {
    const listed = await system.plane.control.hosts.list({})
    return listed.ok ? listed.value.items.map(({ name }) => name) : null
  }
  const say = (host: string, cluster: string | null) => {
    const plain = reportRecord(inventoryOf(host, 1), `${host}/1`, 0)
    const headers = cluster === null ? plain.headers : { ...plain.headers, cluster }
    return bus.publish([signerOf(host).signed({ ...plain, headers })])
  }
  return { system, hosts, say, id: (await store.cloud(newPrivateKey)).id }
}

test('PROVENANCE-3 a control takes nothing of a host that belongs to another cloud, says so, and counts it', async () => {
  const log = memoryLog()
  const { system, hosts, say, id } = await open(log)
  await say('foreign', '0a11ce00-0000-4000-8000-000000000002')
  await say('own', id)
  await say('older', null)
  await until(() => system.inbox.counts().taken === 2, 'two reports')
  expect(await hosts()).toEqual(['older', 'own'])
  expect(system.inbox.counts().dead).toBe(1)
  expect(system.plane.counts().refusedReports).toMatchObject({ foreign_cluster: 1 })
  expect(log.said).toContainEqual(expect.objectContaining({ message: 'report.refused' }))
  await system.stop()
})
