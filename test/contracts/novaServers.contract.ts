/** What Nova says of servers, and what our client makes of it: on the double, and on a real Nova. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { NovaServers } from '../../src/actors/neighbours.ts'

export type ServersLab = {
  /** The client, in the name of an account with the role admin beside service, or with service alone. */
  readonly as: (account: 'admin' | 'service') => NovaServers
  /** A server of a tenant that runs on a node. */
  readonly running: () => Promise<{ readonly id: string; readonly node: string }>
  /** One that found no host. */
  readonly homeless: () => Promise<string>
  /** Deletes a server; resolves when that is done. */
  readonly remove: (id: string) => Promise<void>
}

export const novaServersContract = (given: () => ServersLab): void => {
  test('a server of a tenant is known, with its state and its node, until it is deleted', async () => {
    const lab = given()
    const nova = lab.as('admin')
    const { id, node } = await lab.running()
    expect(await nova.server(id)).toEqual({ is: 'known', status: 'ACTIVE', node })
    await lab.remove(id)
    expect(await nova.server(id)).toEqual({ is: 'unknown' })
  })
  test('a server that found no host is known, without a node', async () => {
    const lab = given()
    const id = await lab.homeless()
    expect(await lab.as('admin').server(id)).toEqual({ is: 'known', status: 'ERROR', node: null })
    await lab.remove(id)
  })
  test('a server that never was is unknown', async () => {
    expect(await given().as('admin').server(randomUUID())).toEqual({ is: 'unknown' })
  })
  test('an account without the role admin is shown no server of others, and is told so', async () => {
    const lab = given()
    const { id } = await lab.running()
    expect(await lab.as('service').server(id)).toEqual({ is: 'unknown' })
    expect(await lab.as('service').blind()).toContain('needs the role admin')
    expect(await lab.as('admin').blind()).toBeNull()
    await lab.remove(id)
  })
}
