/** The file of the ledger, line by line, and what a host that has lost it asks and refuses. */
import { describe, expect, test } from 'vitest'
import { type Disk, memoryDisk } from '../../src/host/disk.ts'
import type { Entry } from '../../src/host/entry.ts'
import { type Ledger, openLedger } from '../../src/host/ledger.ts'
import { Memory } from '../../src/host/memory.ts'
import { openOffsetStore } from '../../src/host/offsetStore.ts'
import type { LedgerAnswer, Order } from '../../src/wire/orders.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { ledgerEntry } from './ledgerEntry.ts'

const HEAD = '{"ledger":1,"host":"h1","from":7,"recalled":false}'
const line = (entry: Entry): string => JSON.stringify(entry)
/** Notes each write of the disk. */
const open = async (text: string | null = null, wrapped: (disk: Disk) => Disk = (disk) => disk) => {
  const [clock, log, memory] = [handClock(), memoryLog(), memoryDisk()]
  if (text !== null) await memory.replace('/l', text)
  const writes: string[] = []
  const disk = wrapped({
    ...memory,
    replace: (path, to) => (writes.push(`replace ${to}`), memory.replace(path, to)),
    append: (path, added) => (writes.push(`append ${added}`), memory.append(path, added)),
  })
  const ledger = await openLedger({ boot: 7, disk, path: '/l', host: 'h1', clock, log })
  return { clock, log, ledger, writes, kept: () => memory.read('/l') }
}

describe('the file', () => {
  test('begins with the host and the start that began it; then each write adds its lines', async () => {
    const { ledger, writes, kept } = await open()
    const [a, b, c] = [ledgerEntry('a', 1), ledgerEntry('b', 2), ledgerEntry('a', 3)]
    await ledger.write(a)
    await Promise.all([ledger.write(b), ledger.write(c)])
    expect(writes).toEqual([`replace ${HEAD}\n${line(a)}\n`, `append ${line(b)}\n${line(c)}\n`])
    const again = await open(await kept())
    expect(again.ledger.all()).toEqual([b, c])
    await again.ledger.write(a)
    expect(again.writes).toEqual([`append ${line(a)}\n`])
  })
  test('is written anew when it has more than twice as many lines as slots, and 4096 besides', async () => {
    const lines = Array.from({ length: 4097 }, (_, n) => line(ledgerEntry('a', n + 1)))
    const { ledger, writes } = await open(`${[HEAD, ...lines].join('\n')}\n`)
    for (let number = 4098; number <= 4100; number++) await ledger.write(ledgerEntry('a', number))
    const added = (number: number) => line(ledgerEntry('a', number))
    expect(writes).toEqual([`append ${added(4098)}\n`, `replace ${HEAD}\n${added(4099)}\n`, `append ${added(4100)}\n`])
  })
  test('is written anew after a line that was cut off, and after a write that failed', async () => {
    const torn = await open(`${HEAD}\n${line(ledgerEntry('a', 1))}\n{"slot":"b`)
    await torn.ledger.write(ledgerEntry('c', 2))
    const whole = `replace ${HEAD}\n${line(ledgerEntry('a', 1))}\n${line(ledgerEntry('c', 2))}\n`
    expect(torn.writes).toEqual([whole])
    let left = 2
    const failing = await open(`${HEAD}\n${line(ledgerEntry('a', 1))}\n`, (disk) => ({
      ...disk,
      append: () => Promise.reject(new Error('ENOSPC')),
      replace: (path, text) => (left-- > 0 ? Promise.reject(new Error('EIO')) : disk.replace(path, text)),
    }))
    const written = failing.ledger.write(ledgerEntry('c', 2))
    await failing.clock.pass(49)
    expect(failing.log.said).toHaveLength(1)
    await failing.clock.pass(1 + 100 + 200)
    await written
    expect(failing.writes).toEqual([whole])
    expect(failing.log.said.map(({ level, detail, message }) => [level, detail, message])).toEqual(
      ['ENOSPC', 'EIO', 'EIO'].map((reason, n) => [
        'error',
        { path: '/l', reason, failures: n + 1 },
        'ledger.diskRefused',
      ]),
    )
  })
  test('is tried again after pauses that become longer, up to five seconds', async () => {
    const times: number[] = []
    const { ledger, clock } = await open(`${HEAD}\n`, (disk) => ({
      ...disk,
      append: () => (times.push(clock.now()), Promise.reject(new Error('EIO'))),
      replace: () => (times.push(clock.now()), Promise.reject(new Error('EIO'))),
    }))
    void ledger.write(ledgerEntry('a', 1))
    await clock.pass(25_000)
    const pauses = times.slice(1).map((at, n) => at - times[n]!)
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
  })
  test('of a process that is killed meanwhile is not said to be written', async () => {
    const gate = Promise.withResolvers<void>()
    const { ledger } = await open(`${HEAD}\n`, (disk) => ({ ...disk, append: () => gate.promise }))
    let isWritten = false
    void ledger.write(ledgerEntry('a', 1)).then(() => (isWritten = true))
    await quiet()
    const closed = ledger.close(true)
    gate.resolve()
    await closed
    await quiet()
    expect(isWritten).toBe(false)
  })
  test('says what is wrong with it, and that the host does not start', async () => {
    const refused = (text: string) =>
      open(text).then(
        () => null,
        (error: unknown) => (error as Error).message,
      )
    const END = '; the numbers of orders in it must not be lost, so the host does not start'
    expect(await refused('{"ledger":1,"host":"h2"}\n')).toBe(`/l: it belongs to the host h2, not h1${END}`)
    const second = await refused(`${HEAD}\n${line(ledgerEntry('a', 1))}\n{}\n`)
    expect(second).toMatch(/^\/l: line 3 cannot be read \(.+\); the numbers/)
    expect(second?.endsWith(END)).toBe(true)
    for (const head of [
      '{"ledger":2,"host":"h1"}',
      '{"host":"h1"}',
      '{"ledger":1}',
      '{"ledger":1,"host":"h1","from":"7"}',
    ])
      expect(await refused(`${head}\n`)).toMatch(/^\/l: line 1 cannot be read/)
  })
  test.each<[string | null, number | undefined, boolean]>([
    [null, 7, true],
    [`${HEAD}\n`, 7, true],
    ['{"ledger":1,"host":"h1","from":3,"recalled":true}\n', 3, false],
    ['{"ledger":1,"host":"h1","from":3}\n', 3, true],
    ['{"ledger":1,"host":"h1"}\n', undefined, false],
  ])('of %j says with which start it began, and whether the control has to be asked', async (text, from, asks) => {
    const { ledger } = await open(text)
    expect([ledger.from, ledger.asks]).toEqual([from, asks])
  })
  test('notes that the control has answered, with all that was written before', async () => {
    const { ledger, writes } = await open(`${HEAD}\n`)
    ledger.note(ledgerEntry('a', 1))
    await ledger.complete()
    expect([ledger.asks, writes]).toEqual([
      false,
      [`replace {"ledger":1,"host":"h1","from":7,"recalled":true}\n${line(ledgerEntry('a', 1))}\n`],
    ])
  })
  test('has a note within a second, or with the write that comes before', async () => {
    const { ledger, writes, clock } = await open(`${HEAD}\n`)
    ledger.note(ledgerEntry('a', 1))
    await ledger.write(ledgerEntry('b', 2))
    await clock.pass(5000)
    expect(writes).toEqual([`append ${line(ledgerEntry('a', 1))}\n${line(ledgerEntry('b', 2))}\n`])
    ledger.note(ledgerEntry('c', 3))
    await clock.pass(999)
    expect(writes).toHaveLength(1)
    await clock.pass(1)
    expect(writes.slice(1)).toEqual([`append ${line(ledgerEntry('c', 3))}\n`])
  })
  test('is left alone by a close at once, and does not keep a close from ending while it cannot be written', async () => {
    const { ledger, writes } = await open(`${HEAD}\n`)
    ledger.note(ledgerEntry('a', 1))
    await ledger.close(true)
    await quiet()
    expect(writes).toEqual([])
    const failing = await open(`${HEAD}\n`, (disk) => ({ ...disk, append: () => Promise.reject(new Error('EIO')) }))
    void failing.ledger.write(ledgerEntry('a', 1))
    await quiet()
    await failing.ledger.close(false)
    expect(failing.log.said).toHaveLength(1)
  })
})

test('a slot is forgotten that is released, sent, quiet for long enough and not kept by its hardware', async () => {
  const { ledger, clock, writes } = await open(`${HEAD}\n`)
  const at = clock.now()
  const gone = (slot: string, more: Partial<Entry> = {}) =>
    ledger.write(ledgerEntry(slot, 1, { type: 'ReleaseSlot', finishedAt: at - 101, ...more }))
  await gone('gone')
  await gone('at the limit', { finishedAt: at - 100 })
  await gone('unsent', { sent: false })
  await gone('in hand', { state: 'in-hand' })
  await gone('prepared', { prepared: true })
  await gone('kept')
  writes.length = 0
  const kept = ({ slot }: Entry) => slot === 'kept'
  expect(ledger.prune(100, kept)).toBe(1)
  expect(ledger.all().map(({ slot }) => slot)).toEqual(['at the limit', 'unsent', 'in hand', 'prepared', 'kept'])
  await quiet()
  expect(writes).toEqual([expect.stringMatching(/^replace /)])
  expect(writes[0]).not.toContain('"gone"')
  expect(ledger.prune(100, kept)).toBe(0)
  await quiet()
  expect(writes).toHaveLength(1)
})

describe('a host without the ledger of its earlier starts', () => {
  const BOOT = { bootId: 'this', bootNumber: 7 }
  const order = (slot: string): Order => ({
    ...{ host: 'h1', slot, number: 9, driver: 'd', deployable: 'h1_card', deployableUuid: 'u', deadline: 1 },
    type: 'Program',
    image: 'i',
  })
  const remembering = async (text: string | null = null) => {
    const it = await open(text)
    const doubled: string[] = []
    const memory = new Memory(it.ledger, BOOT, it, (by) => void doubled.push(by))
    const asked = (slot: string, meant: number | null, sentAt = 0) => memory.against(order(slot), { meant, sentAt })
    return { ...it, memory, doubled, asked }
  }
  const held: LedgerAnswer['slots'][number] = {
    ...{ slot: 'a', number: 4, driver: 'd', deployable: 'h1_card', deployableUuid: 'u' },
    handle: { type: 'PCI', info: {} },
  }
  const answer = (slots: LedgerAnswer['slots'], last: boolean, bootId = 'this'): LedgerAnswer => ({
    ...{ type: 'LedgerAnswer', host: 'h1', bootId, slots, last },
  })
  const numbers = (ledger: Ledger) => ledger.all().map(({ slot, number }) => `${slot}${number}`)

  test('takes what the control holds prepared, but for what it knows better, until the last part has come', async () => {
    const { memory, ledger, log } = await remembering()
    expect(memory.asking).toBe(true)
    await ledger.write(ledgerEntry('b', 8))
    await memory.take(answer([held, { ...held, slot: 'b' }], false, 'another'))
    expect(numbers(ledger)).toEqual(['b8'])
    await memory.take(answer([held, { ...held, slot: 'b' }], false))
    expect([numbers(ledger), memory.asking, ledger.asks]).toEqual([['b8', 'a4'], true, true])
    await memory.take(answer([{ ...held, slot: 'c' }], true))
    expect([numbers(ledger), memory.asking, ledger.asks]).toEqual([['b8', 'a4', 'c4'], false, false])
    await memory.take(answer([{ ...held, slot: 'd' }], true))
    expect(numbers(ledger)).toEqual(['b8', 'a4', 'c4'])
    expect(log.said.map(({ detail, message }) => [message, detail])).toEqual([
      ['ledger.recalled', { slots: 2, entered: 1, last: false }],
      ['ledger.recalled', { slots: 1, entered: 1, last: true }],
    ])
  })
  test('leaves orders alone that were given before, until it knows', async () => {
    const { memory, ledger, asked, clock } = await remembering()
    const BEFORE = 'it was sent before the ledger of this host began, and does not say for which start'
    expect([await asked('x', null, 6), await asked('x', null, 7), await asked('x', null, Number.NaN)]).toEqual([
      BEFORE,
      null,
      BEFORE,
    ])
    const early = asked('x', 6)
    const own = asked('x', 7)
    await clock.pass(4999)
    let isOver = false
    void own.then(() => (isOver = true))
    await quiet()
    expect(isOver).toBe(false)
    await clock.pass(1)
    expect([await early, await own]).toEqual([
      'it was sent for start 6, and the ledger of this host begins with start 7',
      'the control has not said yet what is prepared on this host',
    ])
    await ledger.write(ledgerEntry('known', 1))
    expect(await asked('known', null, 0)).toBe(null)
    const waiting = asked('x', 7)
    await memory.take(answer([], true))
    expect([await waiting, await asked('x', 7), await asked('x', 6)]).toEqual([
      null,
      null,
      'it was sent for start 6, and the ledger of this host begins with start 7',
    ])
  })
  test('takes all orders where its ledger is of a release that kept all', async () => {
    const { memory, asked } = await remembering('{"ledger":1,"host":"h1"}\n')
    expect([memory.asking, await asked('x', null, 0), await asked('x', 1)]).toEqual([false, null, null])
  })
  test('steps back for a later start of its name, whether an order or the control tells of it', async () => {
    const { memory, doubled, asked } = await remembering('{"ledger":1,"host":"h1"}\n')
    expect(await asked('x', 8)).toBe(
      'it was sent for start 8, and this is start 7: another program runs under the name of this host',
    )
    memory.heed({ type: 'Stop', host: 'h1', bootId: 'another', by: 'later' })
    memory.heed({ type: 'Stop', host: 'h1', bootId: 'this', by: 'later' })
    expect(doubled).toEqual(['start 8, for which an order came', 'boot later'])
  })
})

test('a place among the orders is read within its limits', async () => {
  const from = async (more: object) => {
    const disk = memoryDisk()
    await disk.replace('/p', JSON.stringify({ bus: 'b', partition: 0, offset: 0, ...more }))
    return (await openOffsetStore({ disk, path: '/p', clock: handClock(), log: memoryLog() })).from
  }
  expect(await from({})).toEqual({ bus: 'b', partition: 0, offset: 0 })
  expect(await from({ bus: 'b'.repeat(500), partition: 3, offset: Number.MAX_SAFE_INTEGER })).not.toBe(null)
  const wrong = [{ bus: '' }, { bus: 'b'.repeat(501) }, { partition: -1 }, { offset: 1.5 }, { offset: 2 ** 53 }]
  for (const more of [...wrong, { partition: '0' }, { bus: 1 }]) expect(await from(more)).toBe(null)
})
