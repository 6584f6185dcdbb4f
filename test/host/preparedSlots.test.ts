/** SLOTS: what a host says to have prepared, and how it releases what nobody knows any more. */
import { beforeEach, describe, expect, test } from 'vitest'
import { functionOf } from '../../src/attachedFunctions.ts'
import type { Entry } from '../../src/host/entry.ts'
import type { Host } from '../../src/host/host.ts'
import { unexplained } from '../../src/host/hardwareInUse.ts'
import { type Paged, pageOf, preparedThrough } from '../../src/host/preparedSlots.ts'
import { ledgerAnswerRecord, slotsQuestionRecord } from '../../src/wire/message.ts'
import { ASKS_HEADER, SLOTS_HEADER } from '../../src/wire/reports.ts'
import { ledgerEntry } from './ledgerEntry.ts'
import { openHostLab, type HostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const STRANGER = 'b0a79999-0000-4000-8000-00000000000b'
const ARQ = 'b0a70000-7000-4000-8000-000000000000'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const learns = async (host: Host): Promise<void> => {
  const answer = { type: 'LedgerAnswer', host: 'h1', bootId: host.bootId, slots: [], last: true } as const
  await lab.bus.publish([ledgerAnswerRecord(answer, 'answer', lab.clock.now())])
  await quiet(40)
}
/** Its ledger is complete: a control has said that nothing was prepared before. */
const boot = async (): Promise<Host> => {
  const host = await lab.boot()
  await learns(host)
  return host
}
const saidBy = async (host: Host) => {
  await host.reportNow()
  await quiet()
  return lab.inventories().at(-1)!.slots
}
const hardware = () => {
  const { type, info } = lab.devices[0]!.deployables[0]!.handles[0]!
  return functionOf({ type, info })
}

describe('SLOTS-3 a report says what is prepared', () => {
  test('by slot, with the order, the request and the function', async () => {
    const host = await boot()
    const order = lab.order('PrepareSlot', 7)
    await lab.send(order, lab.order('PrepareSlot', 8, { unit: 1 }))
    await lab.send(lab.order('ReleaseSlot', 9, { unit: 1 }))
    const { arq } = lab.results()[0]!
    expect(await saidBy(host)).toEqual({
      prepared: [{ slot: order.slot, number: 7, state: 'prepared', arq, function: hardware() }],
      inUse: [],
    })
  })
  test('also what is being prepared or released', async () => {
    const host = await boot()
    await lab.send(lab.order('PrepareSlot', 1))
    lab.driver.control.faults.delayMs = 60_000
    await lab.send(lab.order('ReleaseSlot', 2), lab.order('PrepareSlot', 3, { device: 1 }))
    expect((await saidBy(host))?.prepared.map(({ number, state }) => [number, state])).toEqual([
      [2, 'releasing'],
      [3, 'preparing'],
    ])
  })
  test('and nothing while the host does not know what is prepared on it', async () => {
    const host = await lab.boot()
    expect(await saidBy(host)).toBe(undefined)
  })
  test('an unchanged inventory keeps its digest when a slot is prepared; that of the slots changes', async () => {
    const host = await boot()
    await saidBy(host)
    await lab.send(lab.order('PrepareSlot', 1))
    await saidBy(host)
    const [before, after] = lab.heard.filter(({ report }) => report.type === 'Inventory').slice(-2)
    expect(after!.headers['report-digest']).toBe(before!.headers['report-digest'])
    expect(after!.headers[SLOTS_HEADER]).not.toBe(before!.headers[SLOTS_HEADER])
  })
})

describe('hardware that is in use', () => {
  const second = () => lab.devices[1]!.deployables[0]!
  test('is said with what uses it, unless a slot is prepared for it', async () => {
    const host = await boot()
    lab.driver.control.faults.inUse = [lab.devices[0]!.deployables[0]!.name, second().name]
    await lab.send(lab.order('PrepareSlot', 1, { device: 1 }))
    const used = (await saidBy(host))?.inUse?.map((one) => one.function)
    const functions = lab.devices
      .slice(0, 2)
      .flatMap(({ deployables: [one] }) => one!.handles.map(({ type, info }) => functionOf({ type, info })))
    expect(functions).toHaveLength(4)
    expect(used).toEqual(functions.filter((_, at) => at !== 2))
    expect((await saidBy(host))?.inUse?.[0]?.by).toBe('something that the fault file names')
  })
  test('is not said by a driver that cannot tell, nor by one that fails or hangs, and the report comes all the same', async () => {
    const without = { ...lab.driver, name: 'without' }
    delete (without as { inUse?: unknown }).inUse
    const failing = { ...lab.driver, name: 'failing', inUse: () => Promise.reject(new Error('no')) }
    const hanging = { ...lab.driver, name: 'hanging', inUse: () => new Promise<never>(() => {}) }
    const host = await lab.boot({ drivers: [without, failing, hanging], options: { discoverMs: 1000 } })
    const answer = { type: 'LedgerAnswer', host: 'h1', bootId: host.bootId, slots: [], last: true } as const
    await lab.bus.publish([ledgerAnswerRecord(answer, 'answer', lab.clock.now())])
    await lab.clock.pass(1000)
    const said = host.reportNow()
    await lab.clock.pass(1000)
    expect(await said).toBe(true)
    await quiet()
    expect(lab.inventories().at(-1)!.slots).toEqual({ prepared: [] })
    expect(lab.log.said.filter(({ message }) => message === 'inventory.useUnknown').length).toBeGreaterThanOrEqual(2)
  })
  test('is cut to what there is room for', () => {
    const used = Array.from({ length: 5 }, (_, n) => ({ function: `0000:0${n}:00.0`, by: 'x' }))
    const size = Buffer.byteLength(JSON.stringify(used[0])) + 1
    expect(unexplained(used, [], 3 * size)).toEqual(used.slice(0, 3))
    expect(unexplained(used, [], 0)).toEqual([])
  })
})

describe('a question of the control', () => {
  const ask = async (bootId: string, from?: string, id = 'q1') => {
    const question = { type: 'TellSlots', host: 'h1', bootId, id, ...(from ? { from } : {}) } as const
    await lab.bus.publish([slotsQuestionRecord(question, lab.clock.now())])
    await quiet(40)
  }
  test('is answered at once, from the slot on that it names, and its answer has to be read', async () => {
    const host = await boot()
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 2, { unit: 1 }))
    const { slot } = lab.order('PrepareSlot', 2, { unit: 1 })
    const before = lab.inventories().length
    await ask(host.bootId, slot)
    expect(lab.inventories()).toHaveLength(before + 1)
    const { slots } = lab.inventories().at(-1)!
    expect(slots).toMatchObject({ from: slot, answers: 'q1', prepared: [{ slot }] })
    expect(lab.heard.at(-1)!.headers[ASKS_HEADER]).toBe('slots')
    expect((await saidBy(host))?.answers).toBe(undefined)
  })
  test('that comes before the host knows its slots is answered by the first report that says them', async () => {
    const host = await lab.boot()
    await ask(host.bootId)
    expect(lab.inventories().at(-1)).toMatchObject({ number: 2, ledger: 'new' })
    expect(await saidBy(host)).toBe(undefined)
    await learns(host)
    expect((await saidBy(host))?.answers).toBe('q1')
    expect((await saidBy(host))?.answers).toBe(undefined)
  })
  test('takes the place of an older one that could not be answered', async () => {
    const host = await lab.boot()
    await ask(host.bootId)
    await learns(host)
    await ask(host.bootId, undefined, 'q2')
    expect(lab.inventories().at(-1)!.slots?.answers).toBe('q2')
    expect((await saidBy(host))?.answers).toBe(undefined)
  })
  test('to another start of the host is not answered', async () => {
    await boot()
    const before = lab.inventories().length
    await ask(STRANGER)
    expect(lab.inventories()).toHaveLength(before)
  })
})

describe('FENCE-4 a release that names an unknown slot of the same hardware', () => {
  const stranger = () => lab.order('PrepareSlot', 40, { slot: STRANGER, arq: ARQ })
  const prepared = async () => Object.keys((await lab.effects()).prepared)

  test('releases that slot too, and the host no longer counts it as prepared', async () => {
    const host = await boot()
    await lab.send(stranger())
    await lab.send(lab.order('ReleaseSlot', 41, { also: [STRANGER] }))
    expect(lab.results().at(-1)).toMatchObject({ order: 'ReleaseSlot', result: { status: 'done' } })
    expect(await prepared()).toEqual([])
    expect((await saidBy(host))?.prepared).toEqual([])
    await lab.send(lab.order('PrepareSlot', 42))
    expect(lab.results().at(-1)).toMatchObject({ order: 'PrepareSlot', result: { status: 'done' } })
  })
  test('does not release the slot if it has other hardware', async () => {
    await boot()
    const elsewhere = lab.order('PrepareSlot', 40, { slot: STRANGER, arq: ARQ, device: 1 })
    await lab.send(elsewhere)
    await lab.send(lab.order('ReleaseSlot', 41, { also: [STRANGER] }))
    expect(await prepared()).toEqual([STRANGER])
  })
  test('without that name it is refused as before', async () => {
    await boot()
    await lab.send(stranger())
    await lab.send(lab.order('ReleaseSlot', 41))
    expect(lab.results().at(-1)!.result).toMatchObject({ status: 'failed', final: true })
    expect(await prepared()).toEqual([STRANGER])
  })
})

describe('SLOTS-2 more slots than fit into a report', () => {
  const slot = (n: number) => `b0a7${String(n).padStart(4, '0')}-0000-4000-8000-000000000000`
  const entry = (n: number): Entry => ({
    slot: slot(n),
    number: 1,
    type: 'PrepareSlot',
    driver: 'd',
    deployable: 'h1_card',
    deployableUuid: STRANGER,
    handle: JSON.stringify(['PCI', { bus: '01', device: '00', domain: '0000', function: '0' }]),
    state: 'done',
    startedAt: 1,
    finishedAt: 1,
    result: { status: 'done' },
    sent: true,
    prepared: true,
  })
  const entries = [3, 1, 5, 2, 4].map(entry)
  const bytes = Buffer.byteLength(JSON.stringify(pageOf([entry(1)], null, 10_000)!.page.prepared))

  test('are said in pages, each complete from its first to its last slot, so that all come in turn', () => {
    const pages = []
    let from: string | null = null
    do {
      const paged: Paged = pageOf(entries, from, 2 * bytes)!
      pages.push([paged.page.from, paged.page.upTo, ...paged.page.prepared.map((one) => one.slot)])
      from = paged.next
    } while (from !== null)
    expect(pages).toEqual([
      [undefined, slot(2), slot(1), slot(2)],
      [slot(3), slot(4), slot(3), slot(4)],
      [slot(5), undefined, slot(5)],
    ])
  })
  test('are said with their order, what becomes of them, their request and their function', () => {
    const some: readonly Entry[] = [
      { ...entry(1), number: 4, arq: ARQ },
      { ...entry(2), state: 'in-hand' },
      { ...entry(3), state: 'in-hand', type: 'ReleaseSlot' },
      { ...entry(4), type: 'ReleaseSlot' },
      { ...entry(5), prepared: false },
      { ...entry(6), handle: '' },
    ]
    const shown = (n: number, state: string) => ({ slot: slot(n), number: 1, state, function: '0000:01:00.0' })
    expect(pageOf(some, null, 10_000)).toStrictEqual({
      page: {
        prepared: [
          { ...shown(1, 'prepared'), number: 4, arq: ARQ },
          shown(2, 'preparing'),
          shown(3, 'releasing'),
          shown(4, 'prepared'),
        ],
      },
      next: null,
    })
    expect(pageOf(some, slot(3), 10_000)).toStrictEqual({
      page: { from: slot(3), prepared: [shown(3, 'releasing'), shown(4, 'prepared')] },
      next: null,
    })
  })
  test('are said as many as fit to the byte, and four thousand at most', () => {
    const size = bytes - 1
    const counts = [size - 1, size, 2 * size - 1, 2 * size].map(
      (room) => pageOf(entries, null, room)?.page.prepared.length,
    )
    expect(counts).toEqual([undefined, 1, 1, 2])
    const many = Array.from({ length: 4001 }, (_, n) => entry(n))
    expect(pageOf(many.slice(1), null, 1e9)).toMatchObject({ next: null })
    const { page, next } = pageOf(many, null, 1e9)!
    expect([page.prepared.length, page.upTo, next]).toEqual([4000, slot(3999), slot(4000)])
  })
  test('without room for one of them nothing is said', () => {
    expect(pageOf(entries, null, 10)).toBe(null)
    expect(pageOf([], null, 0)).toEqual({ page: { prepared: [] }, next: null })
  })
})

test('how many handles may be prepared through a driver', () => {
  const entries = [
    ledgerEntry('a', 1),
    ledgerEntry('b', 2, { driver: 'other' }),
    ledgerEntry('c', 3, { handle: '' }),
    ledgerEntry('d', 4, { type: 'ReleaseSlot' }),
    ledgerEntry('e', 5, { state: 'in-hand' }),
  ]
  expect(preparedThrough('fake_driver', entries)).toBe(2)
  expect(preparedThrough('other', entries)).toBe(1)
  expect(preparedThrough('none', entries)).toBe(0)
})
