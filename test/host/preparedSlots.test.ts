/** SLOTS: what a host says to have prepared, and how it releases what nobody knows any more. */
import { beforeEach, describe, expect, test } from 'vitest'
import { functionOf } from '../../src/vocabulary/attachedFunctions.ts'
import type { Host } from '../../src/host/host.ts'
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

test('SLOTS-2 of more slots than fit, each report names a part, goes on where the one before ended, and a question moves nothing', async () => {
  const COUNT = 3000
  const slotOf = (n: number) => `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  const hex = (n: number) => n.toString(16).padStart(2, '0')
  const entry = (n: number) => {
    const [bus, device] = [hex(n >> 8), hex((n >> 3) % 32)]
    const info = { bus, device, domain: '0000', function: String(n % 8) }
    return ledgerEntry(slotOf(n), n + 1, {
      ...{ driver: lab.driver.name, deployable: 'h1_card', deployableUuid: STRANGER, prepared: true },
      handle: JSON.stringify(['PCI', info]),
    })
  }
  const lines = Array.from({ length: COUNT }, (_, n) => JSON.stringify(entry(n)))
  await lab.disk.replace('/state/ledger.jsonl', `${['{"ledger":1,"host":"h1"}', ...lines].join('\n')}\n`)
  const host = await lab.boot()
  /** From, up to, how many, and what is answered. */
  const page = () => {
    const { from, upTo, prepared, answers } = lab.inventories().at(-1)!.slots!
    return { from, upTo, count: prepared.length, answers }
  }
  const asks = async (id: string, from?: string) => {
    const question = { type: 'TellSlots', host: 'h1', bootId: host.bootId, id, ...(from ? { from } : {}) } as const
    await lab.bus.publish([slotsQuestionRecord(question, lab.clock.now())])
    await quiet(40)
    return page()
  }
  const reports = async () => {
    await host.reportNow()
    await quiet()
    return page()
  }
  const first = page()
  const { count } = first
  expect([count > COUNT / 10, count < COUNT / 2, first]).toEqual([true, true, { upTo: slotOf(count - 1), count }])
  expect(await asks('q1', slotOf(COUNT - 1))).toEqual({ from: slotOf(COUNT - 1), count: 1, answers: 'q1' })
  const second = await reports()
  expect(second.from).toBe(slotOf(count))
  expect(await asks('q2')).toEqual({ ...first, answers: 'q2' })
  // the end of the host's slots, after which it begins anew
  let [last, seen] = [second, count + second.count]
  while (last.upTo !== undefined) {
    last = await reports()
    seen += last.count
  }
  expect(seen).toBe(COUNT)
  expect(await reports()).toEqual(first)
})
