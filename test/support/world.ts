/** The API over a whole control plane: one simulated host with an FPGA of 16 handles (no host work) and a GPU. */
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Options } from '../../src/http/options.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openPlane } from './plane.ts'

export const WORLD_HOST = 'sim-1'

export const openWorld = async (options: Partial<Options> = {}) => {
  const world = await openPlane()
  await world.shows(WORLD_HOST, {
    seed: 1,
    devices: [
      { kind: 'fpga', handles: 16, hostWork: false },
      { kind: 'gpu', handles: 2 },
    ],
  })
  // orders (of programming) reach the hosts as they are journaled
  const unsubscribe = world.store.journal.onAppended(() => void world.pump())
  const app = createApp({ control: world.control, identify: noauth, log: silent, options })
  const close = async () => {
    unsubscribe()
    await world.pump()
    await world.plane.stop()
    await world.store.close()
  }
  return { ...world, app, close }
}
