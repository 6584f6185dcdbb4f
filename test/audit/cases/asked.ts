/** The life of one ARQ, and the requests of clients beside it. */
import type { ClientRequest, Evidence } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { type Entry, arq, bindStarted, created, isBound, of, removed, unbound } from './scene.ts'

export const SERVICE = { projectId: 'service', isAdmin: false, isService: true }
export const ADMIN = { projectId: 'admin', isAdmin: true, isService: false }
export const TENANT = { projectId: 'p1', isAdmin: false, isService: false }
export const by = (who: string, row: Entry): Entry => ({ ...row, by: who })

/** Row 1: created; 2: being bound; 3: Bound; 4: unbound; 5: removed. */
export const life: readonly Entry[] = [
  created('a1'),
  by('service', arq('a1', bindStarted())),
  arq('a1', isBound),
  by('service', arq('a1', unbound)),
  by('service', arq('a1', removed)),
]
export const until = (rows: number): Partial<Evidence> => of(...life.slice(0, rows))
export const ask = (
  act: ClientRequest['act'],
  from: number,
  to: number,
  more: Partial<ClientRequest> = {},
): ClientRequest => ({
  act,
  from,
  to,
  caller: SERVICE,
  status: 200,
  ...more,
})
export const asking = (rows: number, ...clients: readonly ClientRequest[]): Partial<Evidence> => ({
  ...until(rows),
  clients,
})
export const said = (asked: ClientRequest, line: string, ...keys: readonly string[]): Finding => ({
  found: `from ${asked.from} to ${asked.to}: ${line}`,
  keys,
  proof: [{ of: 'client', asked }],
})

export const show = (state: string, handle: string | null = null, uuid = 'a1') => ({
  uuid,
  state,
  projectId: 'p1',
  handle,
})
export const get = (from: number, to: number, ...shown: NonNullable<ClientRequest['shown']>): ClientRequest =>
  ask('get', from, to, { shown })
export const list = (
  from: number,
  to: number,
  shown: NonNullable<ClientRequest['shown']>,
  more: Partial<ClientRequest> = {},
): ClientRequest => ask('list', from, to, { shown, instance: 'i1', ...more })
