/** What Nova says of servers, in memory: each is known unless the test says otherwise. */
import type { NovaServer, NovaServers } from '../../src/actors/neighbours.ts'

export const KNOWN: NovaServer = { is: 'known', status: 'ACTIVE', node: null }
export const novaServersOf = (said: ReadonlyMap<string, NovaServer> = new Map()) => {
  const asked: string[] = []
  const nova: { blind: string | null } = { blind: null }
  const servers: NovaServers = {
    server: async (uuid) => {
      asked.push(uuid)
      return said.get(uuid) ?? KNOWN
    },
    blind: async () => nova.blind,
  }
  return Object.assign(nova, { servers, asked })
}
