/**
 * What the API answers today in a short life of a small cloud: the status, the members of each answer, and each refusal
 * with its sentence. Where a change of it is meant:
 * `npx vitest run test/golden/answers.test.ts -u`, and the difference shows what clients and operators will meet.
 */
import { expect, test } from 'vitest'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { novaServersOf } from '../support/novaServers.ts'
import { asker } from './answers.ts'
import { CLIENTS } from './clientsAsk.ts'
import { OPERATORS } from './operatorsAsk.ts'
import { openCloud } from './scenario.ts'

test('the same questions get the same answers', async () => {
  const servers = new Map<string, NovaServer>()
  const nova = novaServersOf(servers)
  const cloud = await openCloud({ novaServers: nova.servers })
  const talk = asker(cloud)
  for (const [title, scene] of Object.entries({ ...CLIENTS, ...OPERATORS })) {
    talk.title(title)
    await scene({ cloud, talk, ask: talk.ask, servers, nova })
  }
  await cloud.plane.stop()
  await expect(talk.text()).toMatchFileSnapshot('answers.txt')
})
