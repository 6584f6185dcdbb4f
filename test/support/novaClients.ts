/** Clients of Nova for tests: at an address, or through a session. */
import { novaThrough } from '../../src/neighbours/nova.ts'
import { type CatalogueOptions, directly, inCatalogue, type NovaOptions } from '../../src/neighbours/novaCall.ts'
import { serversThrough } from '../../src/neighbours/novaServers.ts'
import { createSender } from '../../src/neighbours/openstack/send.ts'
import type { Session } from '../../src/neighbours/openstack/session.ts'

export type NovaAt = Omit<NovaOptions, 'send'> & Partial<Pick<NovaOptions, 'send'>>
const at = ({ send = createSender(null).send, ...options }: NovaAt) => directly({ ...options, send })

export const novaAt = (options: NovaAt) => novaThrough(at(options), options.timeoutMs)
export const serversAt = (options: NovaAt) => serversThrough(at(options), options.timeoutMs)

export const novaOf = (session: Pick<Session, 'call'>, options: CatalogueOptions) =>
  novaThrough(inCatalogue(session, options), options.timeoutMs)
export const serversOf = (session: Pick<Session, 'call'>, options: CatalogueOptions) =>
  serversThrough(inCatalogue(session, options), options.timeoutMs)
