/** Controls over one journal that tell events, rows for them to tell, and clients that note what they are told. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../src/actors/control.ts'
import type { EventFilter, EventStream, IdentifyAgain, Portion, PublishedEvent } from '../../src/actors/events.ts'
import { lettersOf, reactions } from '../../src/actors/reactions.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { type EventSource, openEvents } from '../../src/delivery/events/events.ts'
import type { EventsOptions } from '../../src/delivery/events/options.ts'
import type { Outcome } from '../../src/vocabulary/fault.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { Store } from '../../src/persistence/store.ts'

export const AT = 1_790_000_000_000
export const OPERATOR: Caller = {
  userId: 'ops',
  projectId: 'operations',
  isAdmin: true,
  isService: false,
  requestId: 'req-1',
}
export const ofProject = (projectId: string): Caller => ({
  ...OPERATOR,
  userId: `u-${projectId}`,
  projectId,
  isAdmin: false,
})

export const valueOf = <Value>(outcome: Outcome<Value>): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
  return outcome.value
}

/** Events are told at once, so that tests need not wait. */
const FAST = { poll: { busyMs: 5, idleMs: 5, busyForMs: 100, aloneMs: 5, leastMs: 1 }, beatMs: 200 }

export const createEvents = (store: Store, options: Partial<EventsOptions> = {}): EventSource => {
  const { journal, landmarks, hints } = store
  return openEvents({ journal, landmarks, hints, lettersOf, clock: systemClock, log: silent, ...FAST, ...options })
}

/** Writes rows, each an append of its own unless they are given together. */
export const createWriter = ({ journal }: Pick<Store, 'journal'>, requestId = 'req-1') => {
  const versions = new Map<string, number>()
  const rowOf = (
    commandId: string,
    [key, ...events]: readonly [string, ...JournalRow['events'][number][]],
  ): JournalRow => {
    const version = (versions.get(key) ?? 0) + 1
    versions.set(key, version)
    return { key, version, commandId, events, at: AT + version, cause: { requestId, by: 'test' } }
  }
  const write = async (...rows: readonly (readonly [string, ...JournalRow['events'][number][]])[]): Promise<void> => {
    const commandId = randomUUID()
    const verdict = await journal.append({ rows: rows.map((row) => rowOf(commandId, row)), changes: [] })
    if (verdict !== 'appended') throw new Error(JSON.stringify(verdict))
  }
  /** A new accelerator request of a project. */
  const create = async (projectId: string, uuid: string = randomUUID()): Promise<string> => {
    await write([`arq/${uuid}`, { type: 'ArqCreated', uuid, projectId } as JournalRow['events'][number]])
    return uuid
  }
  return { write, create }
}

/** What the relay publishes of facts, in its order. */
export const published = async ({ journal }: Pick<Store, 'journal'>): Promise<readonly string[]> => {
  const texts: string[] = []
  for (let at = ''; ;) {
    const rows = await journal.feed(at, 500)
    texts.push(
      ...rows.flatMap((row) =>
        reactions(row).flatMap(({ topic, value }) => (topic.includes('.events.') ? [value] : [])),
      ),
    )
    if (rows.length === 0) return texts
    at = rows.at(-1)!.position
  }
}

/** A client that notes all it is told, and the id to come back with. */
export const clientOf = (stream: EventStream) => {
  const received: PublishedEvent[] = []
  const others: Exclude<Portion, { kind: 'events' }>[] = []
  let last: string | null = null
  const take = async (): Promise<Portion> => {
    const portion = await stream.next()
    if (portion.kind === 'events') {
      received.push(...portion.events)
      last = portion.events.at(-1)!.id
    } else {
      others.push(portion)
      if (portion.kind !== 'bye') last = portion.id
    }
    return portion
  }
  /** Takes portions until so many events were told altogether. */
  const takeUntil = async (count: number): Promise<readonly PublishedEvent[]> => {
    const end = performance.now() + 20_000
    while (received.length < count) {
      if (performance.now() > end) throw new Error(`${received.length} of ${count} events were told`)
      if ((await take()).kind === 'bye') throw new Error('the stream ended')
    }
    return received
  }
  return { received, others, take, takeUntil, last: () => last, stream }
}
export type Client = ReturnType<typeof clientOf>

/** The caller stays who it is. */
export const SAME_CALLER: IdentifyAgain = async () => null

export const follow = async (
  events: EventSource,
  after: string | null = null,
  {
    caller = OPERATOR,
    filter = {},
    identifyAgain = SAME_CALLER,
  }: { readonly caller?: Caller; readonly filter?: EventFilter; readonly identifyAgain?: IdentifyAgain } = {},
): Promise<Client> => clientOf(valueOf(await events.open(caller, { after, filter }, identifyAgain)))
