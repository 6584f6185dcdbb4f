/**
 * Reads evidence from files: a journal as lines of JSON, the ledger of a host, and the requests that a client recorded.
 */
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as v from 'valibot'
import type { ClientRequest, HostStep, HostTrace, Recorded, Rows, TopicMessage } from '../../audit/evidence.ts'
import { effectsPath, readEffects } from '../../drivers/simulated/effects.ts'
import { messageOf as reasonOf } from '../../vocabulary/errorText.ts'
import { Entry } from '../../host/entry.ts'
import { packed } from './packed.ts'
import { messageOf } from './topics.ts'

type Journal = Rows<Recorded>
const Row = v.looseObject({
  key: v.pipe(v.string(), v.regex(/^[a-z-]+\/./, 'must be <kind>/<id>')),
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  commandId: v.string(),
  events: v.array(v.looseObject({ type: v.string() })),
  at: v.number(),
  cause: v.looseObject({}),
  position: v.optional(v.string()),
})
const Moment = v.optional(v.number())
const Client = v.looseObject({
  act: v.picklist([
    'create',
    'bind',
    'unbind',
    'remove',
    'removeByInstance',
    'get',
    'list',
    'disable',
    'enable',
    'other',
  ]),
  from: Moment,
  to: Moment,
  fromMs: Moment,
  toMs: Moment,
  status: v.nullable(v.number()),
  caller: v.object({ projectId: v.string(), isAdmin: v.boolean(), isService: v.boolean() }),
  arqs: v.optional(v.array(v.string())),
  instance: v.optional(v.string()),
  shown: v.optional(
    v.array(
      v.object({
        uuid: v.string(),
        state: v.string(),
        projectId: v.nullable(v.string()),
        handle: v.nullable(v.string()),
      }),
    ),
  ),
})

async function* linesOf<Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
): AsyncGenerator<v.InferOutput<Schema>> {
  let at = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    at++
    if (text.trim() === '') continue
    const refused = (field: string, rule: string) => new Error(`${path}: line ${at}: ${field}: ${rule}`)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      throw refused('the line', 'must be JSON')
    }
    const parsed = v.safeParse(schema, value, { abortEarly: true })
    if (!parsed.success) throw refused(v.getDotPath(parsed.issues[0]) ?? 'the line', parsed.issues[0].message)
    yield parsed.output
  }
}

export const readJournal = (path: string): Promise<Journal> => {
  const rows = async function* () {
    for await (const row of linesOf(path, Row)) yield row as unknown as Recorded
  }
  return packed(rows())
}
export const writeJournal = async (path: string, rows: Journal): Promise<void> => {
  const lines = function* () {
    for (const { key, version, commandId, events, at, cause, position } of rows)
      yield `${JSON.stringify({ key, version, commandId, events, at, cause, ...(position === undefined ? {} : { position }) })}\n`
  }
  await pipeline(Readable.from(lines()), createWriteStream(path))
}

/**
 * A client that cannot see the journal records `fromMs` and `toMs` by its own clock. Each moment is converted to the
 * widest range of the journal that it can mean when the clocks of the client and of the controls differ by at most
 * `skewMs`.
 */
export const readClients = async (
  paths: readonly string[],
  journal: Journal,
  skewMs: number,
): Promise<readonly ClientRequest[]> => {
  if (paths.length === 0) return []
  const moments = Array.from(journal, ({ at }) => at)
  const earliest = running(moments.toReversed(), Math.min).toReversed()
  const latest = running(moments, Math.max)
  const asked: ClientRequest[] = []
  for (const path of paths)
    for await (const one of linesOf(path, Client)) {
      const { from, to, fromMs, toMs } = one
      if ((from === undefined || to === undefined) && (fromMs === undefined || toMs === undefined))
        throw new Error(`${path}: fromMs, toMs: must be there where from and to are not`)
      asked.push({
        ...one,
        // `from` excludes only rows that were certainly written before; `to` includes all rows that may have been
        // written by then.
        from: from ?? first(latest, (at) => at >= fromMs! - skewMs),
        to: to ?? first(earliest, (at) => at > toMs! + skewMs),
      } as unknown as ClientRequest)
    }
  return asked
}
const Line = v.object({
  topic: v.string(),
  partition: v.number(),
  offset: v.number(),
  key: v.string(),
  value: v.nullable(v.string()),
  time: v.number(),
})
/** Reads topics from their beginnings, each partition in its order. */
export const readTopicFile = async (path: string) => {
  const messages: TopicMessage[] = []
  for await (const raw of linesOf(path, Line)) messages.push(messageOf(raw))
  return { messages, cut: new Set<string>(), missing: [] }
}

const running = (values: readonly number[], pick: (a: number, b: number) => number): readonly number[] => {
  let known: number | undefined
  return values.map((value) => (known = known === undefined ? value : pick(known, value)))
}
/** Binary search in an ascending sequence: the index of the first value that fits, or the length. */
const first = (values: readonly number[], fits: (value: number) => boolean): number => {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(values[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** The ARQ for which the slot is prepared after this entry; null: for none; undefined: the entry does not say. */
const preparedFor = ({ type, state, result, arq }: Entry): string | null | undefined => {
  if (state !== 'done' || result?.status !== 'done') return undefined
  if (type === 'ReleaseSlot') return null
  return type === 'PrepareSlot' ? arq : undefined
}
const stepsOf = (entry: Entry): readonly HostStep[] => {
  const { slot, number, state, sent } = entry
  const holder = preparedFor(entry)
  const done = state === 'done'
  const noted = { did: 'noted' as const, slot, number, done, ...(holder === undefined ? {} : { preparedFor: holder }) }
  return [noted, ...(sent && done ? [{ did: 'reported' as const, slot, number }] : [])]
}

const Head = v.object({ ledger: v.literal(1), host: v.string() })
const DRIVER = 'simulated_driver'

/** Reads the ledger of a host: the message numbers that reached the disk, in order, and whether each was sent. */
export const readHost = async (dir: string): Promise<HostTrace> => {
  const path = join(dir, 'ledger.jsonl')
  if (!existsSync(path)) throw new Error(`${dir} holds no ledger.jsonl of a host`)
  const text = readFileSync(path, 'utf8')
  const [head = '', ...rest] = text.split('\n')
  // The text after the last line end is an incomplete write, which the host never acted upon.
  rest.pop()
  const parse = <Schema extends v.GenericSchema>(schema: Schema, line: string, at: number) => {
    try {
      return v.parse(schema, JSON.parse(line))
    } catch (error) {
      throw new Error(`${path}: line ${at}: ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }
  const { host } = parse(Head, head, 1)
  const steps = rest.flatMap((line, at) => stepsOf(parse(Entry, line, at + 2)))
  const board = effectsPath(join(dir, 'drivers'), DRIVER)
  if (!existsSync(board)) return { name: host, steps }
  const { prepared, loaded } = readEffects(readFileSync(board, 'utf8'))
  return { name: host, steps, prepared: Object.keys(prepared), loaded }
}
