/** A control and a host program together: the host is asked for a report, and looks at its hardware at once. */
import { expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { startHost } from '../../src/host/host.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { noCatalogue } from '../support/images.ts'
import { NOVA, value } from '../support/plane.ts'

test('a host that reports once an hour answers at once when it is asked', async () => {
  const bus = inProcessBus({ clock: systemClock })
  const system = await openSystem({ store: memoryStore(), images: noCatalogue(), nova: null, log: silent, bus })
  const { hosts } = system.plane.control
  const driver = simulatedDriver({ seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })
  const host = await startHost({
    ...{ name: 'h1', stateDir: '/state', bus: system.bus, drivers: [driver], io: recordedHostIo({}, 'h1') },
    ...{ disk: memoryDisk(), clock: systemClock, ids: systemIds, log: silent },
    options: { heartbeatEveryMs: 50, reportEveryMs: 3_600_000 },
  })
  try {
    // a host without a ledger first learns what the journal holds, and says until then nothing of its slots
    await expect.poll(async () => (await hosts.get(NOVA, 'h1')).ok).toBe(true)
    await expect
      .poll(
        async () => {
          const asked = await hosts.probe(NOVA, 'h1')
          return asked.ok ? asked.value.probe?.answer : asked.fault
        },
        { timeout: 30_000, interval: 1000 },
      )
      .toMatchObject({ devices: 1, failed: [] })
    expect(value(await hosts.get(NOVA, 'h1')).probe).toMatchObject({ bootId: host.bootId, by: 'service' })
  } finally {
    await host.stop()
    await system.stop()
  }
}, 60_000)
