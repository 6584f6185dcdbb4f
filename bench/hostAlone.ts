/**
 * The host program alone in its process, as it runs on a compute node: 8 devices of 16 handles, a few hundred orders;
 * then what memory it holds.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inProcessBus } from '../src/bus/inProcess/inProcess.ts'
import { systemClock, systemIds } from '../src/vocabulary/clock.ts'
import { realHostIo } from '../src/drivers/hostIo.ts'
import { simulatedDriver } from '../src/drivers/simulated/simulated.ts'
import { sizedCloud } from '../src/drivers/simulated/cloud.ts'
import { fileDisk } from '../src/host/disk.ts'
import { startHost } from '../src/host/host.ts'
import { silent as log } from '../src/vocabulary/log.ts'
import { orderRecord } from '../src/wire/message.ts'
import { memoryOf } from './proc.ts'

const ORDERS = 400

const [{ hostname: name, plan }] = sizedCloud('bench', { hosts: 1, devices: 8, handles: 16 }) as [
  ReturnType<typeof sizedCloud>[number],
]
const stateDir = join(tmpdir(), `accelerando-bench-host-${process.pid}`)
const bus = inProcessBus({ clock: systemClock, log })
const io = realHostIo({ hostname: name, stateDir: join(stateDir, 'drivers'), warn: () => {} })
const driver = simulatedDriver(plan)
const program = { name, stateDir, bus, drivers: [driver], io, disk: fileDisk, clock: systemClock, ids: systemIds, log }
const host = await startHost({ ...program, options: { reportEveryMs: 200, heartbeatEveryMs: 100 } })

const slots = (await driver.discover(io)).flatMap(({ deployables }) =>
  deployables.flatMap(({ name: deployable, handles }) =>
    handles.map(({ type, info }) => ({
      deployable,
      deployableUuid: randomUUID(),
      slot: randomUUID(),
      handle: { type, info },
    })),
  ),
)
for (let number = 1; number <= ORDERS; number++) {
  const { deployable, deployableUuid, slot, handle } = slots[number % slots.length]!
  const head = { host: name, slot, number, driver: driver.name, deployable, deployableUuid, handle }
  const order = { ...head, deadline: Date.now() + 60_000, type: 'PrepareSlot', arq: randomUUID() } as const
  await bus.publish([orderRecord(order, `${slot}/${number}`, Date.now())])
  if (number % 50 === 0) await host.idle()
}
await host.idle()
await sleep(2000)
process.stdout.write(`${JSON.stringify(memoryOf(process.pid))}\n`)
await host.stop()
await bus.stop()
rmSync(stateDir, { recursive: true, force: true })
process.exit(0)
