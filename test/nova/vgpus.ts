/**
 * A server whose flavor asks for vGPUs: a mediated device is made on its compute for each of them at the bind, and none
 * is left after its deletion.
 */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { GPU_MACHINE } from '../support/gpuMachine.ts'
import { NOTHING, heldBy, rightlyBound, tidied } from './boots.ts'
import { CARD_COMPUTE } from './rig.ts'
import type { NovaService } from './service.ts'

export const vgpus = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))

  test('a server with two vGPUs is ACTIVE with the mediated devices of its handles, and its deletion leaves none', async () => {
    const { users, cards } = service
    const { gpus } = cards
    const { group } = GPU_MACHINE
    const server = await users.boot(await users.flavor(group, group))
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null, host: CARD_COMPUTE })
    const arqs = await rightlyBound(service, server.id, 2, 'MDEV')
    for (const { attach_handle_info: info } of arqs) expect(info).toMatchObject({ asked_type: GPU_MACHINE.type })
    const handles = arqs.map(({ attach_handle_uuid: uuid }) => uuid!)
    expect(gpus.made().toSorted()).toEqual(handles.toSorted())
    await users.remove(server.id)
    // the host removes a device after the answer to Nova
    await expect.poll(gpus.made, { timeout: 20_000 }).toEqual([])
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  })
}
