/**
 * What explain warns of: a server whose attach handles are not all of type PCI gets none of its accelerators from Nova.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HandleType, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { pciInfo } from '../../src/vocabulary/pci.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { createTestApp } from '../http/app.ts'
import { openPlane } from '../support/plane.ts'
import { pglitePool } from '../support/storePools.ts'
import type { Source } from '../support/stores.ts'

const cardOf = (bus: string, type: HandleType, resourceClass: string): ReportedDevice => {
  const address = { domain: '0000', bus, device: '00', function: '0' }
  const more = type === 'MDEV' ? { asked_type: 'nvidia-223', vgpu_mark: 'nvidia-223_0' } : {}
  return {
    type: 'GPU',
    vendor: '10de',
    model: 'card',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI', info: JSON.stringify(address) },
    deployables: [
      {
        name: `compute-1_0000:${bus}:00.0`,
        numAccelerators: 1,
        driverName: 'NVIDIA',
        attributes: [{ key: 'rc', value: resourceClass }],
        handles: [{ type, info: { ...pciInfo(address), ...more } }],
        hostWork: true,
        programmable: false,
      },
    ],
  }
}

const pool = pglitePool()
// the first one takes longer than a test may
beforeAll(async () => (await pool.take(Date.now)).close())
afterAll(pool.end)
const STORES: Readonly<Record<string, Source>> = { memory: async (now) => memoryStore({ now }), PGlite: pool.take }

describe.each(Object.entries(STORES))('over %s', (_, take) => {
  test('a profile that asks for a vGPU and a whole GPU is answered with the warning, and fits as before', async () => {
    const store = await take(Date.now)
    const { control, report, plane } = await openPlane({}, store)
    try {
      const devices = [cardOf('af', 'MDEV', 'VGPU'), cardOf('b0', 'PCI', 'PGPU')]
      await report('compute-1', [{ driver: 'nvidia_gpu_driver', status: 'ok', devices }])
      const check = async (...classes: readonly string[]): Promise<object> => {
        const groups = classes.map((name) => ({ [`resources:${name}`]: '1' }))
        const answered = await createTestApp(control).request('http://127.0.0.1/v2/profile_checks', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([{ name: 'draft', groups }]),
        })
        return (await answered.json()) as object
      }
      const both = await check('PGPU', 'VGPU')
      expect(both).toMatchObject({
        fits: true,
        warnings: [
          { code: 'not_attached', group: 1, reason: expect.stringMatching(/^group 1 .* without those of group 0$/) },
        ],
      })
      expect(await check('PGPU')).toMatchObject({ fits: true, warnings: [] })
    } finally {
      await plane.stop()
      await store.close()
    }
  })
})
