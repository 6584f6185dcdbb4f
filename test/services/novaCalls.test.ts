/** The calls that tell Nova how binds ended: what one call names, what is recorded of its answer, and the limits. */
import { describe, expect, test } from 'vitest'
import { type Fault, type Outcome, done, refuse } from '../../src/fault.ts'
import type { Instance } from '../../src/actors/instance/decider.ts'
import type { Nova, NovaEvent, NovaVerdict } from '../../src/actors/neighbours.ts'
import type { Draft } from '../../src/actors/runtime/draft.ts'
import type { Work } from '../../src/actors/runtime/commit.ts'
import type { Read } from '../../src/actors/runtime/region.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createNotifier } from '../../src/services/nova/notifier.ts'
import type { Attributes } from '../../src/trace.ts'
import { AWAY } from '../support/kernelParts.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const GONE: Fault = { kind: 'not_found', resource: 'instance', id: 'i1' }
const key = (uuid: string): EntityKey<'instance'> => `instance/${uuid}`
type Call = {
  readonly events: readonly NovaEvent[]
  readonly requestId: string
  readonly trace: string | undefined
  readonly answer: (verdicts: readonly NovaVerdict[]) => void
}
type Telling = NonNullable<Instance['telling']>
const held = (uuid: string, tags: readonly string[], more: Partial<Telling> = {}): Instance => ({
  uuid,
  arqs: {},
  hostname: 'h1',
  open: null,
  requestId: `req-${uuid}`,
  trace: `trace-${uuid}`,
  telling: {
    statuses: Object.fromEntries(tags.map((tag) => [tag, 'completed' as const])),
    nextAt: 0,
    until: Number.MAX_SAFE_INTEGER,
    attempts: 0,
    of: {},
    ...more,
  },
  conversations: 3,
  tellUntil: null,
  undelivered: {},
})

/** `instances`: as any read shows them; a fault: they cannot be read. */
const opened = (more: Partial<Kernel> = {}) => {
  const [clock, log] = [handClock(), memoryLog()]
  const instances = new Map<EntityKey, Instance | Fault>()
  const [calls, told, spans, reads]: readonly [Call[], unknown[], unknown[], string[]] = [[], [], [], []]
  const world: { refuses: Fault | null } = { refuses: null }
  const nova: Nova = {
    notify: (events, requestId, trace) => {
      const { promise, resolve } = Promise.withResolvers<readonly NovaVerdict[]>()
      calls.push({ events, requestId, trace, answer: resolve })
      return promise
    },
  }
  const readAs =
    (how: string) =>
    async (_: unknown, one: EntityKey): Promise<Outcome<object>> => {
      reads.push(`${how} ${one}`)
      const found = instances.get(one)
      if (found === undefined) throw new Error(`nobody knows ${one}`)
      return 'kind' in found ? refuse(found) : done({ state: found })
    }
  const tell = async (one: EntityKey, { plan, cause }: Work<unknown>) => {
    const decide = (_: unknown, of: EntityKey, command: object) => void told.push([one, of, cause, command])
    plan({ decide } as unknown as Draft)
    return world.refuses === null ? done(null) : refuse(world.refuses)
  }
  const part = (...[kind, name, parent, attributes]: [string, string, string | undefined, Attributes?]) => ({
    trace: parent && `${parent} of nova`,
    end: (failed?: string) => void spans.push([kind, name, parent, attributes, failed]),
  })
  const kernel = {
    ...{ clock, log, nova, tracer: { part }, ids: { uuid: () => 'made' }, journal: { exclusive: false } },
    ...{ options: { headStartMs: 3000 }, region: { readCached: readAs('cached'), tell } },
    ...more,
  } as unknown as Kernel
  const notifier = createNotifier(kernel)
  const current = readAs('current') as Read
  const begin = (...uuids: readonly string[]) => {
    for (const uuid of uuids) notifier.begin(key(uuid), current)
  }
  const knows = (...all: readonly Instance[]) => {
    for (const one of all) instances.set(key(one.uuid), one)
  }
  return { clock, log, instances, calls, told, spans, reads, world, notifier, begin, knows }
}
/** As many calls as may be open at once, each about an instance of its own. */
const busy = (one: ReturnType<typeof opened>, count = 16) => {
  for (let n = 0; n < count; n++) {
    one.knows(held(`busy${n}`, [`busy${n}`]))
    one.begin(`busy${n}`)
  }
}
const delivered = (tag: string): NovaVerdict => ({ tag, outcome: 'delivered', code: 200 })

test('what Nova answered is recorded with each instance, and why it has not taken an event', async () => {
  const one = opened()
  one.knows(held('i1', ['a', 'b', 'c'], { attempts: 2 }))
  one.begin('i1')
  await quiet()
  const [{ events, requestId, trace, answer }] = one.calls as [Call]
  expect(events[1]).toEqual({ name: 'accelerator-request-bound', server_uuid: 'i1', tag: 'b', status: 'completed' })
  expect([requestId, trace]).toEqual(['req-i1', 'trace-i1 of nova'])
  answer([delivered('a'), { tag: 'b', outcome: 'retry', code: 503, note: 'x'.repeat(600) }])
  await quiet()
  const note = `503 ${'x'.repeat(496)}`
  const nextAt = one.clock.now() + 4000
  const endings = { a: 'delivered' }
  const command = { type: 'ReportTold', endings, nextAt, note, upTo: 3 }
  const cause = { by: 'nova notifier', requestId: 'req-i1', trace: 'trace-i1' }
  expect(one.told).toEqual([[key('i1'), key('i1'), cause, command]])
  expect(one.spans).toEqual([['client', 'nova notify', 'trace-i1', { 'accelerando.events': 3 }, note]])
  const detail = { instance: 'i1', note, endings }
  expect(one.log.said).toEqual([{ level: 'warn', message: 'nova.answer', detail }])
})
test.each<readonly [string, readonly NovaVerdict[], string | null]>([
  ['all is delivered', [delivered('a'), { ...delivered('b'), note: 'well' }], null],
  [
    'two of one kind',
    [
      { tag: 'a', outcome: 'gone', code: 404 },
      { tag: 'b', outcome: 'gone', code: 404 },
    ],
    '404',
  ],
  ['one is not judged', [{ tag: 'a', outcome: 'refused', code: 400, note: 'no\0' }], '400 no; 0 not judged'],
])('the note when %s', async (_, verdicts, note) => {
  const one = opened()
  one.knows(held('i1', ['a', 'b']))
  one.begin('i1')
  await quiet()
  one.calls[0]!.answer(verdicts)
  await quiet()
  expect(one.told).toMatchObject([[key('i1'), key('i1'), {}, { note }]])
  expect(one.log.said).toHaveLength(note === null ? 0 : 1)
})
test('an event is undeliverable when the next try would be after its time', async () => {
  const endings = async (leftMs: number) => {
    const one = opened()
    one.knows(held('i1', ['a'], { until: one.clock.now() + leftMs }))
    one.begin('i1')
    await quiet()
    one.calls[0]!.answer([])
    await quiet()
    return (one.told as readonly (readonly { readonly endings?: object }[])[])[0]![3]!.endings
  }
  expect([await endings(1000), await endings(999)]).toEqual([{}, { a: 'undeliverable' }])
})
test('without Nova nothing is lost: the events wait for another control', async () => {
  const one = opened({ nova: null })
  one.knows(held('i1', ['a']))
  one.begin('i1')
  await quiet()
  expect(one.told).toMatchObject([
    [key('i1'), key('i1'), {}, { endings: {}, note: '0 no Nova is configured any more' }],
  ])
})

describe('NOTIFIER-2 one request of two instances', () => {
  test('is told in two calls, and for the second one the instance is read anew, from memory', async () => {
    const one = opened()
    busy(one)
    one.knows(held('i1', ['a']), held('i2', ['a']), held('i3', ['c']))
    one.begin('i1', 'i2', 'i3')
    await quiet()
    one.reads.length = 0
    one.calls[0]!.answer([delivered('busy0')])
    await quiet()
    const names = ({ events }: Call) => events.map(({ server_uuid: server, tag }) => `${server} ${tag}`)
    expect(one.calls.slice(16).map(names)).toEqual([['i1 a', 'i3 c']])
    expect([one.notifier.isInHand(key('i2')), one.notifier.state()]).toEqual([true, { calls: 16, waiting: 1 }])
    one.calls[1]!.answer([delivered('busy1')])
    await quiet()
    expect(one.calls.slice(17).map(names)).toEqual([['i2 a']])
    expect(one.reads).toEqual([
      'current instance/i1',
      'current instance/i2',
      'current instance/i3',
      'cached instance/i2',
    ])
    // the end of the first call leaves the second one its instance
    one.calls[16]!.answer([delivered('a'), delivered('c')])
    await quiet()
    expect([one.notifier.isInHand(key('i1')), one.notifier.isInHand(key('i2'))]).toEqual([false, true])
  })
  test('a call about several requests carries the first trace that there is', async () => {
    const one = opened()
    busy(one)
    const { trace: _, ...untraced } = held('i1', ['a'])
    one.knows(untraced, held('i2', ['b']), held('i3', ['c']))
    one.begin('i1', 'i2', 'i3')
    await quiet()
    one.calls[0]!.answer([])
    await quiet()
    expect(one.calls[16]!.trace).toBe('trace-i2 of nova')
  })
})

describe('an instance is told of', () => {
  test.each([
    ['when its moment has come', 0, true],
    ['not before', 1, false],
    ['not while its moment can be right', 60_000, false],
    ['when its moment is further ahead than any control sets it', 60_001, true],
  ])('%s', async (_, aheadMs, isTold) => {
    const one = opened()
    one.knows(held('i1', ['a'], { nextAt: one.clock.now() + aheadMs }))
    one.begin('i1')
    await quiet()
    expect([one.calls.length, one.notifier.isInHand(key('i1'))]).toEqual(isTold ? [1, true] : [0, false])
  })
  test('unless it has nothing to tell', async () => {
    const one = opened()
    one.knows({ ...held('i1', []), telling: null })
    one.begin('i1')
    await quiet()
    expect([one.calls, one.told, one.notifier.state()]).toEqual([[], [], { calls: 0, waiting: 0 }])
  })
  test('unless it cannot be read, which is said unless the store is away', async () => {
    const one = opened()
    one.instances.set(key('i1'), GONE).set(key('i2'), AWAY)
    one.begin('i1', 'i2', 'i3')
    await quiet()
    expect(one.log.said).toEqual([
      { level: 'warn', message: 'sweep.refused', detail: { entity: key('i1'), fault: GONE } },
      { level: 'error', message: 'sweep.failed', detail: { error: 'nobody knows instance/i3' } },
    ])
    expect(['i1', 'i2', 'i3'].map((uuid) => one.notifier.isInHand(key(uuid)))).toEqual([false, false, false])
  })
  test.each([
    [GONE, 1],
    [AWAY, 0],
  ])('again when the answer cannot be recorded: %o', async (fault, said) => {
    const one = opened()
    one.world.refuses = fault
    one.knows(held('i1', ['a']))
    one.begin('i1')
    await quiet()
    one.calls[0]!.answer([delivered('a')])
    await quiet()
    expect([one.notifier.isInHand(key('i1')), one.log.said.length]).toEqual([false, said])
  })
})

test('it has room for sixteen calls of a hundred, less what waits, and two thousand may wait', async () => {
  const one = opened()
  expect(one.notifier.room()).toBe(1600)
  busy(one)
  await quiet()
  expect([one.notifier.room(), one.notifier.state()]).toEqual([0, { calls: 16, waiting: 0 }])
  for (let n = 0; n < 2001; n++) one.begin(`i${n}`)
  expect([one.notifier.room(), one.notifier.state()]).toEqual([0, { calls: 16, waiting: 2000 }])
  expect([one.notifier.isInHand(key('i1999')), one.notifier.isInHand(key('i2000'))]).toEqual([true, false])
})
test('other processes leave an event alone for a while, which a process that is alone need not', () => {
  const [one, alone] = [opened(), opened({ journal: { exclusive: true } as Kernel['journal'] })]
  expect(one.notifier.moment()).toBe(one.clock.now() - 3000)
  expect(alone.notifier.moment()).toBe(alone.clock.now())
  expect([one.notifier.kinds, one.notifier.aheadMs('nova')]).toEqual([['nova'], 60_000])
})
test('a stop waits two seconds for the open calls, and begins no other', async () => {
  const one = opened()
  busy(one)
  one.knows(held('i1', ['a']))
  one.begin('i1')
  await quiet()
  let ended = false
  const stopping = one.notifier.stop().then(() => (ended = true))
  one.begin('i2')
  expect(one.notifier.state()).toEqual({ calls: 16, waiting: 0 })
  await one.clock.pass(1999)
  expect(ended).toBe(false)
  await one.clock.pass(1)
  await stopping
  one.calls[0]!.answer([])
  await quiet()
  expect([one.calls.length, one.notifier.state()]).toEqual([16, { calls: 15, waiting: 0 }])
})
