/** Cases of the whole form: what happens to the accelerators of a server that lives on. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Json } from '../e2e/client.ts'
import { FPGA, NOTHING, heldBy, rightlyBound, tidied } from './boots.ts'
import type { NovaService } from './service.ts'
import { until, type ShownServer } from './users.ts'

/** `after`: the status it ends in. `kept`: it has the same ARQs as before; otherwise none. */
type Step = { readonly action: Json; readonly after: string; readonly kept: boolean }
const KEPT = (action: Json, after = 'ACTIVE'): Step => ({ action, after, kept: true })

export const lives = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))

  const uuidsOf = async (server: string): Promise<readonly string[]> =>
    (await service.users.arqsOf(server)).map(({ uuid }) => uuid).toSorted()
  const calm = (id: string, status: string): Promise<ShownServer> =>
    until(
      () => service.users.shown(id),
      (shown) => shown.status === status && shown.task === null,
    )

  test.each<[string, readonly Step[]]>([
    ['soft and hard reboot', [KEPT({ reboot: { type: 'SOFT' } }), KEPT({ reboot: { type: 'HARD' } })]],
    ['stop and start', [KEPT({ 'os-stop': null }, 'SHUTOFF'), KEPT({ 'os-start': null })]],
    ['pause and unpause', [KEPT({ pause: null }, 'PAUSED'), KEPT({ unpause: null })]],
    ['lock and unlock', [KEPT({ lock: null }), KEPT({ unlock: null })]],
    ['snapshots', [KEPT({ createImage: { name: 'snapshot' } })]],
    ['backups', [KEPT({ createBackup: { name: 'backup', backup_type: 'daily', rotation: 1 } })]],
  ])('%s keep the ARQs', async (_, steps) => {
    const { users } = service
    const { id, status } = await users.boot(await users.flavor(FPGA))
    expect(status).toBe('ACTIVE')
    const before = await uuidsOf(id)
    for (const { action, after } of steps) {
      await users.act(id, action)
      expect((await calm(id, after)).fault).toBeNull()
      expect(await uuidsOf(id)).toEqual(before)
      await rightlyBound(service, id, 1)
    }
  })

  test('a rebuild keeps the ARQs', async () => {
    const { users } = service
    const { id } = await users.boot(await users.flavor(FPGA, FPGA))
    const before = await uuidsOf(id)
    await users.act(id, { rebuild: { imageRef: await users.imageRef() } })
    expect((await calm(id, 'ACTIVE')).fault).toBeNull()
    expect(await uuidsOf(id)).toEqual(before)
    await rightlyBound(service, id, 2)
  })

  test('a shelved server gives its accelerators back, and gets new ARQs when it is unshelved', async () => {
    const { users } = service
    const { id } = await users.boot(await users.flavor({ 'resources:FPGA': '2' }))
    const before = await uuidsOf(id)
    await users.act(id, { shelve: null })
    await calm(id, 'SHELVED_OFFLOADED')
    expect(await heldBy(service, id)).toEqual(NOTHING)
    await users.act(id, { unshelve: null })
    expect((await calm(id, 'ACTIVE')).fault).toBeNull()
    const after = await rightlyBound(service, id, 2)
    expect(after.filter(({ uuid }) => before.includes(uuid))).toEqual([])
  })
}
