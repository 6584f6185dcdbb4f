/** A report that no store can record, over the whole system: its host alone notices. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { openStore } from '../../src/persistence/open.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { readDeadLetter, reportRecord } from '../../src/wire/message.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { imagesOf } from '../sim/images.ts'
import { memoryLog, until } from '../support/lab.ts'
import { value } from '../support/plane.ts'
import { inventoryOf } from '../support/reports.ts'
import { signerOf } from '../support/keys.ts'

const shown = (name: string, numAccelerators: number): InventoryReport['drivers'] => [
  {
    driver: 'd',
    status: 'ok',
    devices: [
      {
        type: 'FPGA',
        vendor: 'v',
        model: 'm',
        stdBoardInfo: null,
        vendorBoardInfo: null,
        controlPath: { type: 'PCI', info: JSON.stringify({ domain: '0000', bus: '0c', device: '00', function: '0' }) },
        deployables: [
          {
            name: `${name}_1`,
            numAccelerators,
            driverName: 'd',
            attributes: [{ key: 'rc', value: 'FPGA' }],
            handles: [],
            hostWork: false,
            programmable: false,
          },
        ],
      },
    ],
  },
]

const open = async (kind: 'memory' | 'pglite') => {
  const dir = mkdtempSync(join(tmpdir(), 'accelerando-poison-'))
  const log = memoryLog()
  const store = kind === 'memory' ? memoryStore() : await openStore({ kind, dir })
  const bus = inProcessBus({ clock: systemClock, partitions: 1 })
  const letters: string[] = []
  await bus.consume({
    topic: 'dead-letters.v1',
    group: 'test',
    from: 'earliest',
    take: async (record) => {
      const letter = readDeadLetter(record)
      if (letter.ok) letters.push(letter.value.body.reason)
    },
  })
  const system = await openSystem({ store, images: imagesOf(), nova: null, log, bus })
  const tell = (host: string, number: number, drivers: InventoryReport['drivers']) => {
    const report = inventoryOf(host, number, { drivers, observedAt: Date.now() })
    return bus.publish([signerOf(host).signed(reportRecord(report, `${host}/${number}`, Date.now()))])
  }
  const close = async () => {
    await system.stop()
    await store.close()
    rmSync(dir, { recursive: true })
  }
  const names = async () => value(await system.plane.control.deployables.list({}, {})).items.map(({ name }) => name)
  return { system, tell, letters, names, close }
}

describe.each(['memory', 'pglite'] as const)('on %s', (kind) => {
  test('a number that no column holds is a dead letter at once, and twenty hosts beside it are recorded', async () => {
    const { system, tell, letters, names, close } = await open(kind)
    const hosts = Array.from({ length: 20 }, () => `good-${systemIds.uuid()}`)
    await tell('bad', 1, shown('bad', 3_000_000_000))
    await tell('bad', 2, shown('bad', 3_000_000_000))
    for (const [n, host] of hosts.entries()) {
      await tell(host, 1, shown(host, 1))
      if (n === 10) await tell('bad', 3, shown('bad', 3_000_000_000))
    }
    await until(() => letters.length > 0 && system.inbox.counts().taken >= 20)
    expect((await names()).toSorted()).toEqual(hosts.map((host) => `${host}_1`).toSorted())
    expect(system.inbox.counts()).toMatchObject({ retried: 0, dead: letters.length })
    expect(letters[0]).toMatch(/num_?accelerators: must be a whole number/i)
    // the same host with an inventory that can be recorded
    await tell('bad', 4, shown('bad', 3))
    await until(() => system.inbox.counts().taken >= 21)
    expect(await names()).toContain('bad_1')
    await close()
  })
})
