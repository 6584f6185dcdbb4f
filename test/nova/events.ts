/** What the real Nova answers to events, and what our client makes of each answer (rest-api 8.5). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NovaEvent } from '../../src/actors/neighbours.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { novaAt, novaOf } from '../support/novaClients.ts'
import { type Sender, createSender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { SERVICE, sessionOptions } from '../contracts/keystone.contract.ts'
import { type NovaService, UNITS } from './service.ts'

type Server = 'on a host' | 'of which Nova knows nothing' | 'on no host' | 'whose name is not a UUID'
type Judged = { readonly outcome: string; readonly code: number }
const DELIVERED: Judged = { outcome: 'delivered', code: 200 }
const GONE: Judged = { outcome: 'gone', code: 404 }
const ON_NO_HOST: Judged = { outcome: 'delivered', code: 422 }
const REFUSED: Judged = { outcome: 'refused', code: 400 }

const eventOf = (server: string, status: NovaEvent['status'] = 'completed'): NovaEvent => ({
  name: 'accelerator-request-bound',
  server_uuid: server,
  tag: randomUUID(),
  status,
})

export const events = (given: () => NovaService): void => {
  describe('events', () => {
    let service: NovaService
    let sender: Sender
    let servers: Readonly<Record<Server, string>>
    beforeAll(async () => {
      service = given()
      sender = createSender(null)
      const { users } = service
      const plain = await users.boot(await users.plainFlavor())
      const homeless = await users.boot(await users.flavor({ 'resources:FPGA': String(UNITS) }))
      servers = {
        'on a host': plain.id,
        'of which Nova knows nothing': randomUUID(),
        'on no host': homeless.id,
        'whose name is not a UUID': 'nobody',
      }
    }, 120_000)
    afterAll(async () => {
      await service.users.remove(servers['on a host'], servers['on no host'])
      await sender.close()
    }, 120_000)

    const clientOf = (username = 'cyborg', project = 'service') => {
      const credentials = { ...SERVICE, username, project }
      const options = { ...sessionOptions(service.cloud.authUrl), credentials }
      const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
      return novaOf(session, { timeoutMs: 30_000 })
    }
    const request = () => `req-${randomUUID()}`

    test.each<[string, readonly Server[], readonly Judged[]]>([
      ['200', ['on a host', 'on a host'], [DELIVERED, DELIVERED]],
      ['207 with 404', ['of which Nova knows nothing'], [GONE]],
      ['207 with 422', ['on no host'], [ON_NO_HOST]],
      ['207, mixed', ['on no host', 'on a host', 'of which Nova knows nothing'], [ON_NO_HOST, DELIVERED, GONE]],
      ['400 for all', ['on a host', 'whose name is not a UUID', 'on no host'], [DELIVERED, REFUSED, ON_NO_HOST]],
    ])('%s is judged for each event by itself', async (_, about, judged) => {
      const sent = about.map((server) => eventOf(servers[server]))
      const verdicts = await clientOf().notify(sent, request())
      expect(verdicts).toMatchObject(judged.map((each, at) => ({ ...each, tag: sent[at]!.tag })))
    })
    test('one that says failed is delivered like the others, also a second time', async () => {
      const event = eventOf(servers['on a host'], 'failed')
      for (const _ of [1, 2]) expect(await clientOf().notify([event], request())).toMatchObject([DELIVERED])
    })
    test('an account without the role admin is told that its servers are unknown, and the note says what that may mean', async () => {
      const [verdict] = await clientOf('plain-service').notify([eventOf(servers['on a host'])], request())
      expect(verdict).toMatchObject({ ...GONE, note: expect.stringContaining('admin role') })
    })
    test('of a tenant they are sent again later, and the note names the roles', async () => {
      const [verdict] = await clientOf('alpha-member', 'alpha').notify([eventOf(servers['on a host'])], request())
      expect(verdict).toMatchObject({ outcome: 'retry', code: 403, note: expect.stringContaining('roles admin and') })
    })
    test('without a token they are sent again later', async () => {
      const nova = novaAt({ url: service.cloud.compute, timeoutMs: 30_000 })
      const [verdict] = await nova.notify([eventOf(servers['on a host'])], request())
      expect(verdict).toMatchObject({ outcome: 'retry', code: 401 })
    })
  })
}
