/**
 * A compute dies, and its servers move to another one. Last of all cases: Nova takes the compute back only after its
 * restart.
 */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { rightlyBound, tidied } from './boots.ts'
import { COMPUTES } from './rig.ts'
import type { NovaService } from './service.ts'
import { until } from './users.ts'

const EVACUATED_MS = 180_000

export const evacuation = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))

  test(
    'an evacuated server gets new ARQs on the other compute, and those of the dead one are free again',
    async () => {
      const { users, cloud } = service
      const [dead, other] = COMPUTES
      const server = await users.boot(await users.flavor({ 'resources:FPGA': '2' }), dead)
      expect(server).toMatchObject({ status: 'ACTIVE', host: dead })
      const before = (await rightlyBound(service, server.id, 2)).map(({ uuid }) => uuid)
      await cloud.killCompute(dead)
      try {
        const states = async () => (await users.computes()).find(({ host }) => host === dead)!.state
        await until(states, (state) => state === 'down')
        await users.evacuate(server.id, other)
        const moved = await until(
          () => users.shown(server.id),
          // from Nova's API 2.95 on it is left stopped there
          ({ host, status, task }) => host === other && status === 'SHUTOFF' && task === null,
          EVACUATED_MS,
        )
        expect(moved.fault).toBeNull()
        const after = await users.arqsOf(server.id)
        expect(after.map(({ hostname, state }) => [hostname, state])).toEqual([
          [other, 'Bound'],
          [other, 'Bound'],
        ])
        expect(after.filter(({ uuid }) => before.includes(uuid))).toEqual([])
        await users.act(server.id, { 'os-start': null })
        await until(
          () => users.shown(server.id),
          ({ status, task }) => status === 'ACTIVE' && task === null,
        )
      } finally {
        await cloud.restart()
      }
      // the compute that is back gives up the allocation that it still had
      await until(
        () =>
          rightlyBound(service, server.id, 2).then(
            () => true,
            () => false,
          ),
        Boolean,
      )
    },
    2 * EVACUATED_MS,
  )
}
