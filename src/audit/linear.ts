/**
 * Linearizability of the ownership of each attach handle as clients saw it, without the journal. A handle is modelled
 * as a mutex with reads: there must be an order of the operations in which at most one ARQ holds the handle at any
 * time. The record must contain all binds and unbinds of the ARQs it shows.
 *
 * An ARQ whose rows the database has lost keeps the handle that clients were told of: its guest still uses the handle,
 * whatever the journal holds now. Later reads of that ARQ prove nothing until it is bound again, or a request gives the
 * handle up, regardless of the answer.
 */
import type { ArqUuid, HandleUuid } from '../vocabulary/identifiers.ts'
import { arqKey } from '../actors/arq/decider.ts'
import type { ClientRequest, Records } from './evidence.ts'
import type { Invariant } from './history.ts'
import { type Gone, lostArqs } from './loss.ts'
import { type Operation, linearize } from './linearize.ts'

/**
 * '' when the handle is free; else the ARQ, followed by `!` once it was seen Bound: from then on only a request takes
 * the handle from it.
 */
type Held = string
export type HandleOperation = Operation<Held> & { readonly asked: ClientRequest; readonly arq: ArqUuid }

const holderOf = (held: Held): string => held.replace('!', '')
const FREE: Held = ''

const NEVER_HOLDS: ReadonlySet<string> = new Set(['Initial', 'Unbound'])
const RELEASES: ReadonlySet<ClientRequest['act']> = new Set(['unbind', 'remove', 'removeByInstance'])
/** `certain`: the answer says that the operation happened; `refused`: that it did not. Otherwise it is unknown. */
const certain = ({ status }: ClientRequest): boolean => status !== null && status < 300
const refused = ({ status }: ClientRequest): boolean => status !== null && status >= 300 && status < 500
/** A removal that does not find some of its ARQs has still removed those that it found (rest-api 4.6). */
const partly = ({ act, status }: ClientRequest): boolean => act === 'remove' && status === 404

const between = ({ from, to, fromMs, toMs }: ClientRequest) => ({ from: fromMs ?? from, to: toMs ?? to })
const sightings = (asked: ClientRequest, handle: HandleUuid, arq: ArqUuid): readonly HandleOperation[] =>
  (asked.shown ?? []).flatMap((shown) => {
    if (shown.uuid !== arq) return []
    const holds = shown.handle === handle && (shown.state === 'Bound' || shown.state === 'BindStarted')
    // an ARQ being bound may not show its handle yet; a failed one may still show it when another ARQ already holds it
    const free = shown.handle === null ? NEVER_HOLDS.has(shown.state) : shown.handle !== handle
    if (!holds && !free) return []
    const apply = (held: Held): Held | null => {
      if (!holds) return holderOf(held) === arq ? null : held
      if (holderOf(held) !== arq || (shown.state === 'BindStarted' && held.endsWith('!'))) return null
      return shown.state === 'Bound' ? `${arq}!` : held
    }
    return [{ ...between(asked), must: true, sees: true, apply, asked, arq }]
  })

const changes = (asked: ClientRequest, arq: ArqUuid): readonly HandleOperation[] => {
  const { act } = asked
  if (refused(asked) && !partly(asked)) return []
  const { from, to } = between(asked)
  const window = { from, to: certain(asked) || partly(asked) ? to : Infinity, asked, arq }
  if (RELEASES.has(act))
    // removal by instance: if the bind was not answered, it is unknown whether the ARQ belonged to the instance
    return [
      {
        ...window,
        must: certain(asked) && act !== 'removeByInstance',
        apply: (held) => (holderOf(held) === arq ? FREE : held),
      },
    ]
  if (act !== 'bind') return []
  return [
    // `must` is false, since the ARQ may have got another handle
    { ...window, must: false, apply: (held) => (held === FREE ? arq : null) },
    // until the ARQ is Bound, its bind may fail by itself and release the handle, any number of times
    { ...window, to: Infinity, must: false, repeats: true, apply: (held) => (held === arq ? FREE : null) },
  ]
}

const GIVES_UP: ReadonlySet<ClientRequest['act']> = new Set([...RELEASES, 'bind'])
/** `gone`: each time at which rows of the ARQ were lost. */
const afterLoss = (asked: ClientRequest, arq: ArqUuid, gone: readonly Gone[]): readonly HandleOperation[] => {
  const { from, to } = between(asked)
  if (gone.every(({ since }) => (asked.toMs ?? 0) < since) || !GIVES_UP.has(asked.act)) return []
  // a client that binds the ARQ again uses the handle of the new bind
  const until = asked.act === 'bind' ? to : Infinity
  return [{ from, to: until, must: false, apply: (held) => (holderOf(held) === arq ? FREE : null), asked, arq }]
}
/** Whether a read of the ARQ proves who holds its handle. */
const isProof = (asked: ClientRequest, gone: readonly Gone[], binds: readonly ClientRequest[]): boolean =>
  gone.every(
    ({ since, until }) =>
      (asked.toMs ?? 0) < since ||
      binds.some(({ fromMs = 0, toMs = 0 }) => fromMs >= until && (asked.fromMs ?? 0) >= toMs),
  )

/** The operations on each handle that a client ever saw as held. */
export const operationsOf = (
  clients: readonly ClientRequest[],
  lost: NonNullable<Records['lost']> = [],
): ReadonlyMap<string, readonly HandleOperation[]> => {
  const gone = lostArqs(lost)
  const bindsOf = Map.groupBy(
    clients
      .filter((asked) => asked.act === 'bind' && certain(asked))
      .flatMap((asked) => (asked.arqs ?? []).filter((arq) => gone.has(arq)).map((arq) => ({ arq, asked }))),
    ({ arq }) => arq,
  )
  const members = Map.groupBy(
    clients.filter((asked) => asked.act === 'bind' && !refused(asked)),
    ({ instance = '' }) => instance,
  )
  const namedBy = ({ act, shown = [], arqs = [], instance = '' }: ClientRequest): ReadonlySet<string> =>
    new Set([
      ...shown.map(({ uuid }) => uuid),
      ...(act === 'removeByInstance' ? (members.get(instance) ?? []).flatMap((bind) => bind.arqs ?? []) : arqs),
    ])
  const byArq = Map.groupBy(
    clients.flatMap((asked) => [...namedBy(asked)].map((arq) => ({ asked, arq }))),
    ({ arq }) => arq,
  )
  const holders = new Map<string, Set<string>>()
  for (const { shown = [] } of clients)
    for (const { uuid, handle, state } of shown)
      if (handle !== null && (state === 'Bound' || state === 'BindStarted'))
        holders.set(handle, (holders.get(handle) ?? new Set()).add(uuid))
  return new Map(
    [...holders].map(([handle, arqs]) => [
      handle,
      [...arqs].flatMap((arq) => {
        const [times, binds] = [gone.get(arq) ?? [], (bindsOf.get(arq) ?? []).map((one) => one.asked)]
        return (byArq.get(arq) ?? []).flatMap(({ asked }) => [
          ...(isProof(asked, times, binds) ? sightings(asked, handle, arq) : []),
          ...changes(asked, arq),
          ...afterLoss(asked, arq, times),
        ])
      }),
    ]),
  )
}
/** `looksMax`: the limit of each search; absent: that of `linearize`. */
export const judgeHandles = ({ clients = [], lost = [] }: Pick<Records, 'clients' | 'lost'>, looksMax?: number) =>
  [...operationsOf(clients, lost)].map(([handle, operations]) => ({
    handle,
    operations: operations.length,
    judged: linearize<Held>(operations, FREE, looksMax),
  }))

const PROOF_MAX = 8
const owned: Invariant = {
  name: 'S1 clients',
  meaning: 'what clients saw of a handle fits one order in which at most one ARQ holds it',
  needs: ['clients'],
  judge: (evidence) => ({
    *end() {
      for (const { handle, judged } of judgeHandles(evidence)) {
        if (judged.verdict !== 'impossible') continue
        const stuck = judged.stuck as readonly HandleOperation[]
        const arqs = [...new Set(stuck.map(({ arq }) => arq))]
        yield {
          found: `handle ${handle}: no order of ownership explains what was seen of ${arqs.join(', ')}`,
          keys: arqs.map(arqKey),
          proof: stuck.slice(0, PROOF_MAX).map(({ asked }) => ({ of: 'client', asked })),
        }
      }
    },
  }),
}
export const linearInvariants: readonly Invariant[] = [owned]
