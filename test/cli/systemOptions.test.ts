/** What is configured reaches the actors. */
import { expect, test } from 'vitest'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { silent } from '../../src/log.ts'
import { openStore } from '../../src/persistence/open.ts'
import { imagesOf } from '../sim/images.ts'
import { NOVA, value } from '../support/plane.ts'

test('options of the control are in force: a quota of one request', async () => {
  const store = await openStore({ kind: 'memory' })
  const control = { ...CONTROL_DEFAULTS, arqsPerProject: 1 }
  const system = await openSystem({ store, images: imagesOf(), nova: null, log: silent, control })
  try {
    const { profiles, arqs } = system.plane.control
    value(await profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }))
    expect((await arqs.create(NOVA, 'p')).ok).toBe(true)
    expect(await arqs.create(NOVA, 'p')).toMatchObject({ ok: false, fault: { kind: 'forbidden' } })
  } finally {
    await system.stop()
    await store.close()
  }
})
