/**
 * Several relays over one store and one bus, each in a process that can be stopped in the middle of a step, and go on
 * or not.
 */
import { randomUUID } from 'node:crypto'
import { createLatest } from '../../src/actors/latest.ts'
import type { FeedRow, Journal, Reads } from '../../src/actors/runtime/ports.ts'
import { type Row, drop, put } from '../../src/actors/runtime/views.ts'
import type { Bus } from '../../src/bus/port.ts'
import { relay } from '../../src/delivery/relay/relay.ts'
import type { RelayOptions } from '../../src/delivery/relay/options.ts'
import type { Clock } from '../../src/vocabulary/clock.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { factRecord } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

export type Sharing = Store['sharing']

const reactions = ({ key, version, events, at, position }: FeedRow): BusRecord[] =>
  events.map((event) =>
    factRecord('arqEvents', key, { entity: key, version, event }, { id: `${key}/${version}`, time: at, position }),
  )
const arqRow = (uuid: string, state: string): Row<'arqs'> => ({
  uuid,
  state,
  project_id: null,
  profile_uuid: randomUUID(),
  profile_name: 'p',
  profile_version: null,
  group_id: 0,
  group: {},
  hostname: null,
  device_rp_uuid: null,
  instance_uuid: null,
  deployable_uuid: null,
  handle_uuid: null,
  handle_type: null,
  handle_info: null,
  reason: null,
  created_at: 1,
  updated_at: null,
})

export type Step = 'publish' | 'publish states' | 'feed' | 'read' | 'saveUnder'
/** SIGSTOP and SIGCONT: while it stands, nothing it asks goes out, no answer comes in, no timer rings. */
const createProcess = () => {
  let standing = false
  let at: Step | null = null
  const waiting: (() => void)[] = []
  const open = async () => {
    while (standing) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const through = async <Value>(step: Step | null, work: () => Promise<Value>): Promise<Value> => {
    if (step !== null && step === at) [standing, at] = [true, null]
    await open()
    const value = await work()
    await open()
    return value
  }
  const goOn = () => {
    standing = false
    for (const resolve of waiting.splice(0)) resolve()
  }
  const clockOf = (clock: Clock): Clock => ({
    ...clock,
    after: (ms, run) => {
      let dropped = false
      const cancel = clock.after(ms, () => void open().then(() => dropped || run()))
      return () => {
        dropped = true
        cancel()
      }
    },
  })
  return {
    through,
    clockOf,
    goOn,
    stopNow: () => void (standing = true),
    stopAt: (step: Step) => void (at = step),
    stands: () => standing,
  }
}

export const openRelays = (more: Partial<RelayOptions> = {}) => {
  const clock = handClock()
  const openAnother = memoryStores({ exclusive: false, now: clock.now })
  const store = openAnother()
  const { journal, reads } = store
  const versions = new Map<string, number>()
  const stored: BusRecord[] = []
  const saves: string[] = []
  const server = { incarnation: 0 }

  /** `state` null: the entity is gone. */
  const append = async (uuid: string, state: string | null = 'Initial') => {
    const key = `arq/${uuid}`
    const version = (versions.get(key) ?? 0) + 1
    versions.set(key, version)
    const row = { key, version, commandId: randomUUID(), events: [{ type: 'Happened' }], at: clock.now(), cause: {} }
    const change = state === null ? drop('arqs', uuid) : put('arqs', arqRow(uuid, state))
    await journal.append({ rows: [row], changes: [change] })
  }
  const start = async (name: string, lie: (sharing: Sharing) => Sharing = (sharing) => sharing) => {
    const process = createProcess()
    const { through } = process
    const sharing = lie(store.sharing)
    // each relay is a process of its own
    const { hints } = openAnother()
    const log = memoryLog()
    const way: { cut: boolean; slow: boolean; held: Promise<void> | null } = { cut: false, slow: false, held: null }
    const underWay: BusRecord[] = []
    const isState = (batch: readonly BusRecord[]) => batch[0]?.topic.includes('.state.') ?? false
    const asks: Pick<Journal, 'feed' | 'checkpoint' | 'onAppended' | 'exclusive' | 'incarnation'> = {
      get incarnation() {
        return server.incarnation
      },
      feed: (after, limit) => through('feed', () => journal.feed(after, limit)),
      checkpoint: (reader) => through(null, () => journal.checkpoint(reader)),
      onAppended: (listener) => journal.onAppended((appends) => void (process.stands() || listener(appends))),
      exclusive: false,
    }
    const bus: Pick<Bus, 'publish'> = {
      publish: (batch) =>
        through(isState(batch) ? 'publish states' : 'publish', async () => {
          if (way.cut) throw new Error('no way to the bus')
          if (way.slow && isState(batch)) {
            way.slow = false
            underWay.push(...batch)
            throw new Error('the bus does not answer')
          }
          stored.push(...batch)
          if (isState(batch)) await way.held
        }),
    }
    const page: Reads['page'] = (query) => through('read', () => reads.page(query))
    const one = relay({
      journal: asks,
      sharing: {
        acquire: (lease, holder, forMs) => through(null, () => sharing.acquire(lease, holder, forMs)),
        release: (lease, holder) => through(null, () => sharing.release(lease, holder)),
        saveUnder: (lease, reader, position) =>
          through('saveUnder', async () => {
            const saved = await sharing.saveUnder(lease, reader, position)
            if (reader === 'relay') saves.push(`${name} ${position} ${saved}`)
            return saved
          }),
      },
      hints,
      holder: name,
      bus,
      reactions,
      states: createLatest({ page }),
      clock: process.clockOf(clock),
      log,
      rowsMax: 10,
      ...more,
    })
    await one.start()
    /** This process alone does not reach the bus. */
    const cutOff = (cut: boolean) => void (way.cut = cut)
    /** Its next states are given up and arrive all the same, when they are let go. */
    const slowDown = () => void (way.slow = true)
    const letGo = () => void stored.push(...underWay.splice(0))
    /** The answer to its next states comes when this promise resolves. */
    const holdAnswers = (until: Promise<void>) => void (way.held = until)
    return { ...process, relay: one, log, cutOff, slowDown, letGo, holdAnswers }
  }
  const facts = (key?: string) =>
    stored
      .filter(({ topic }) => topic === 'arq.events.v1')
      .map(({ value }) => JSON.parse(value) as { id: string; position: string })
      .filter(({ id }) => key === undefined || id.startsWith(key))
  /** What a reader that knows ids keeps: positions, which must rise. */
  const first = (key?: string) => {
    const seen = new Set<string>()
    return facts(key)
      .filter(({ id }) => !seen.has(id) && seen.add(id))
      .map(({ position }) => Number(position))
  }
  const statesOf = (uuid: string) =>
    stored
      .filter(({ topic, key }) => topic === 'arq.state.v1' && key === uuid)
      .map(({ value, tombstone }) =>
        tombstone ? null : (JSON.parse(value) as { data: { state: { state: string } } }).data.state.state,
      )
  const pass = async (ms: number) => {
    await clock.pass(ms)
    await quiet()
  }
  /** Another server answers from now on, with the same rows. */
  const replaceServer = () => void server.incarnation++
  return { clock, store, append, start, replaceServer, stored, saves, facts, first, statesOf, pass }
}
export const rising = (numbers: readonly number[]): boolean =>
  numbers.every((each, at) => at === 0 || each > numbers[at - 1]!)
