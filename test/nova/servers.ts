/**
 * What the real Nova says of servers, and the collection of accelerator requests whose server it does not know
 * (agent-and-conductor Q4).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { serversOf } from '../support/novaClients.ts'
import { type Sender, createSender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { FPGA as CARD, openCloud } from '../actors/cloud.ts'
import { SERVICE, sessionOptions } from '../contracts/keystone.contract.ts'
import { novaServersContract, type ServersLab } from '../contracts/novaServers.contract.ts'
import { NOVA, value } from '../support/plane.ts'
import { handClock } from '../support/lab.ts'
import { type NovaService, UNITS } from './service.ts'

const ACCOUNTS = { admin: 'cyborg', service: 'plain-service' } as const

export const servers = (given: () => NovaService): void => {
  describe('servers', () => {
    let lab: ServersLab
    let sender: Sender
    beforeAll(() => {
      sender = createSender(null)
      const { cloud, users } = given()
      lab = {
        as: (account) => {
          const credentials = { ...SERVICE, username: ACCOUNTS[account], project: 'service' }
          const options = { ...sessionOptions(cloud.authUrl), credentials }
          const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
          return serversOf(session, { timeoutMs: 30_000 })
        },
        running: async () => {
          const { id, host } = await users.boot(await users.plainFlavor())
          return { id, node: host! }
        },
        homeless: async () => (await users.boot(await users.flavor({ 'resources:FPGA': String(UNITS) }))).id,
        remove: (id) => users.remove(id),
      }
    })
    afterAll(() => sender.close())
    novaServersContract(() => lab)

    test('the accelerators of a server that was deleted behind our back are collected, those of another one are not', async () => {
      const clock = handClock()
      const cloud = await openCloud(CARD, { 'resources:FPGA': '1' }, { clock, novaServers: lab.as('admin') })
      const [gone, kept] = [await lab.running(), await lab.running()]
      const arqs: string[] = []
      for (const { id } of [gone, kept]) {
        const made = await cloud.create()
        value(await cloud.bind(made, id))
        arqs.push(...made)
      }
      await cloud.pump()
      await clock.pass(600_000)
      const instances = [gone.id, kept.id]
      const collect = async () => {
        let ended = false
        const collecting = cloud.control.orphans.collect(NOVA, instances).finally(() => (ended = true))
        while (!ended) {
          await clock.pass(1000)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        return value(await collecting)
      }
      expect(value(await cloud.control.orphans.list(null))).toMatchObject({ orphans: [], unclear: [], asked: 2 })
      expect(await collect()).toMatchObject({ orphans: [], kept: [{}, {}] })
      await lab.remove(gone.id)
      expect(value(await cloud.control.orphans.list(null))).toMatchObject({ orphans: [{ instance: gone.id }] })
      expect(await collect()).toMatchObject({ orphans: [{ instance: gone.id, arqs: [arqs[0]] }] })
      expect(value(await cloud.control.arqs.list(NOVA, {}, {})).items.map(({ uuid }) => uuid)).toEqual([arqs[1]])
      await lab.remove(kept.id)
      await cloud.stop()
    })
  })
}
