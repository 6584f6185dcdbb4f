/**
 * Finds and deletes accelerator requests of servers that Nova does not know any more (agent-and-conductor Q4).
 *
 * ORPHAN-1 a server counts as gone only after Nova has said twice, some time apart, that it does not know this server,
 *    while Nova shows this service the servers of all projects. After any other answer its requests are kept;
 * ORPHAN-2 a request that changed within `SETTLED_MS` is kept: Nova binds requests of servers that it has only begun to
 *    make. A change dated ahead by a wrong clock says nothing: the round keeps such a request for as long as that after
 *    it has first seen it (TERMS-1), and an operator's command does not;
 * ORPHAN-3 these requests are deleted like any others: the host releases the handle. A request that has changed since
 *    Nova was asked is kept.
 */
import type { InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import { pause } from '../../vocabulary/waiting.ts'
import type { ArqRow, Caller, Control, Page } from '../../actors/control.ts'
import type { Kept, Orphan, OrphansCollected } from '../../actors/answers/orphan.ts'
import type { NovaServer, NovaServers } from '../../actors/neighbours.ts'
import { type Kernel, type Origin, causeOf } from '../kernel/kernel.ts'
import { isAheadOf } from '../kernel/terms.ts'
import { removeUnchanged } from '../arqs/unbind.ts'

/** Nova's conductor waits for at most 300 s between the bind of a request and the end of a boot. */
export const SETTLED_MS = 600_000
/** The time between the two questions about a server in one call. */
const APART_MS = 10_000
/** How many requests one call looks at. */
const PAGE = 200
/** How many questions to Nova are open at once. */
const ASKS_MAX = 8
/**
 * Only requests in these states are considered: in other states they are being bound or released, or belong to no
 * server.
 */
const HOLDING = ['Bound', 'BindFailed'] as const

const changedAt = ({ created_at: created, updated_at: updated }: ArqRow): number => updated ?? created
const isHolding = ({ state }: ArqRow): boolean => HOLDING.some((one) => one === state)

const isSettled = (changed: number, now: number): boolean => changed <= now - SETTLED_MS || isAheadOf(changed, now)

/** All requests of the instance, if none of them has changed recently; otherwise the reason to keep them. */
export const orphanOf = async (
  { readers, clock }: Kernel,
  instance: InstanceUuid,
): Promise<Outcome<Orphan | { readonly reason: string }>> => {
  const listed = await readers.list('arqs', { instance_uuid: instance }, {})
  if (!listed.ok) return listed
  const [first, ...others] = listed.value.items
  if (first === undefined) return done({ reason: 'it has no accelerator requests' })
  const all = [first, ...others]
  if (!all.every(isHolding)) return done({ reason: 'its accelerator requests are being bound or released' })
  const latest = Math.max(...all.map(changedAt))
  if (!isSettled(latest, clock.now()))
    return done({ reason: `its accelerator requests changed within the last ${SETTLED_MS / 60_000} minutes` })
  const { hostname: host, project_id: project } = first
  return done({ instance, arqs: all.map(({ uuid }) => uuid), host, project, changedAt: latest })
}

/** The answers, in the order of the instances. */
export const askAll = async (
  servers: NovaServers,
  instances: readonly InstanceUuid[],
): Promise<readonly (readonly [InstanceUuid, NovaServer])[]> => {
  const answers: (readonly [InstanceUuid, NovaServer])[] = []
  for (let at = 0; at < instances.length; at += ASKS_MAX) {
    const some = instances.slice(at, at + ASKS_MAX)
    answers.push(...(await Promise.all(some.map(async (one) => [one, await servers.server(one)] as const))))
  }
  return answers
}

/**
 * The next page of requests, in the order of their creation; returns the instances of those that hold something and are
 * old enough.
 */
export const nextHolders = async ({ readers, clock }: Kernel, from: Pick<Page, 'marker' | 'after'>) => {
  const listed = await readers.list('arqs', { state: HOLDING }, { limit: PAGE, ...from })
  if (!listed.ok) return listed
  const { items, next } = listed.value
  const now = clock.now()
  const instances = items
    .filter((row) => isSettled(changedAt(row), now))
    .flatMap(({ instance_uuid: uuid }) => uuid ?? [])
  return done({ instances: [...new Set(instances)], next })
}

/** Deletes the requests unless one has changed since Nova was asked. */
export const collectOne = async (kernel: Kernel, cause: Origin, orphan: Orphan): Promise<Outcome<null>> => {
  const { instance, arqs, changedAt: before } = orphan
  const removed = await removeUnchanged(kernel, cause, { instance, arqs, before })
  if (!removed.ok) return removed
  kernel.counts.orphansDeleted += arqs.length
  kernel.log.warn({ instance, arqs, host: orphan.host }, 'arq.server_gone')
  return removed
}

const NOT_CONFIGURED = refuse({
  kind: 'conflict',
  reason: 'Nova cannot be asked: this service needs auth = keystone, or nova.url',
})
const blindFault = (reason: string) =>
  refuse({ kind: 'conflict', reason: `Nova cannot be asked for the servers of all projects: ${reason}` })

/** Faults: conflict (Nova cannot be asked, or does not show all servers). */
export const seeingServers = async ({ novaServers }: Kernel): Promise<Outcome<NovaServers>> => {
  if (novaServers === null) return NOT_CONFIGURED
  const blind = await novaServers.blind()
  return blind === null ? done(novaServers) : blindFault(blind)
}

const said = (answer: Exclude<NovaServer, { readonly is: 'unknown' }>): string =>
  answer.is === 'known' ? `Nova knows the server, in the state ${answer.status}` : answer.reason

type Looked = {
  readonly orphans: readonly Orphan[]
  /** The instances whose requests are kept, with the reason. */
  readonly kept: readonly Kept[]
  /** Those of `kept` for which Nova did not say whether it knows the server. */
  readonly unclear: readonly Kept[]
}
/**
 * Asks Nova once about each instance; returns those that Nova does not know, and the reason to keep each of the others.
 */
const look = async (kernel: Kernel, instances: readonly InstanceUuid[]): Promise<Outcome<Looked>> => {
  const seeing = await seeingServers(kernel)
  if (!seeing.ok) return seeing
  const orphans: Orphan[] = []
  const kept: Kept[] = []
  const unclear: Kept[] = []
  for (const [instance, answer] of await askAll(seeing.value, instances)) {
    const held = answer.is === 'unknown' ? await orphanOf(kernel, instance) : done({ reason: said(answer) })
    if (!held.ok) return held
    if ('arqs' in held.value) orphans.push(held.value)
    else {
      const one = { instance, reason: held.value.reason }
      kept.push(one)
      if (answer.is !== 'known') unclear.push(one)
    }
  }
  return done({ orphans, kept, unclear })
}

const collect = async (
  kernel: Kernel,
  caller: Caller,
  instances: readonly InstanceUuid[],
): Promise<Outcome<OrphansCollected>> => {
  const first = await look(kernel, instances)
  if (!first.ok) return first
  if (first.value.orphans.length === 0) return done({ orphans: [], kept: first.value.kept })
  await pause(kernel.clock, APART_MS)
  const before = new Map(first.value.orphans.map((one) => [one.instance, one]))
  const second = await look(kernel, [...before.keys()])
  if (!second.ok) return second
  const orphans: Orphan[] = []
  const kept: Kept[] = [...first.value.kept, ...second.value.kept]
  for (const { instance } of second.value.orphans) {
    const removed = await collectOne(kernel, causeOf(caller), before.get(instance)!)
    if (removed.ok) orphans.push(before.get(instance)!)
    else if (removed.fault.kind === 'conflict') kept.push({ instance, reason: removed.fault.reason })
    else return removed
  }
  return done({ orphans, kept })
}

export const createOrphans = (kernel: Kernel): Control['orphans'] => ({
  list: async (after) => {
    const page = await nextHolders(kernel, after === null ? {} : { marker: after })
    if (!page.ok) return page
    const { instances, next } = page.value
    const looked = await look(kernel, instances)
    if (!looked.ok) return looked
    const { orphans, unclear } = looked.value
    return done({ orphans, unclear, asked: instances.length, next: next?.key ?? null })
  },
  collect: (caller, instances) => collect(kernel, caller, [...new Set(instances)]),
})
