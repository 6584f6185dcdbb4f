/**
 * Anything on the topic of a host's orders, and anything in its ledger: what the cloud orders between is carried out
 * once, and nothing else is.
 */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { openLedger } from '../../src/host/ledger.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { MESSAGE_MAX_BYTES, orderRecord, readDeadLetter } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { CLOUD_HEADER } from '../../src/wire/seal.ts'
import { MAC_HEADER, SIGNATURE_HEADER, SIGNER_HEADER } from '../../src/wire/signature.ts'
import { hostileText, hostileValue, jsonOf, spoilt } from '../http/hostileInput.ts'
import { HOST, type HostLab, openHostLab } from '../support/hostLab.ts'
import { privateKeyOf, signerOf } from '../support/keys.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { ledgerEntry } from './ledgerEntry.ts'

const SEED = 20_261_125
const RECORDS = 400
const AT_ONCE = 20
const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
const [cloud, other] = [signerOf('our cloud'), signerOf('another cloud')]

let lab: HostLab
beforeEach(async () => void (lab = await openHostLab()))

const recordOf = (order: Order, cluster = OURS): BusRecord => {
  const record = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
  return { ...record, headers: { ...record.headers, [CLOUD_HEADER]: cluster } }
}
/** The driver, with the slots that it was called for. */
const watched = (driver: Driver) => {
  const calls: string[] = []
  const seen: Driver = {
    ...driver,
    prepare: (io, slot, ...rest) => (calls.push(`prepare ${slot.uuid}`), driver.prepare(io, slot, ...rest)),
    release: (io, slot, ...rest) => (calls.push(`release ${slot.uuid}`), driver.release(io, slot, ...rest)),
  }
  return { calls, seen }
}

type Forging = {
  readonly way: number
  readonly place: number
  readonly by: unknown
  readonly raw: string
  readonly number: number
}
const forging: fc.Arbitrary<Forging> = fc.record({
  way: fc.nat(9),
  place: fc.nat(),
  by: hostileValue,
  raw: hostileText,
  number: fc.integer({ min: 1000, max: 9999 }),
})
/**
 * What somebody sends who may write to the topic; only `way` 9 has the key of the cloud. The handle is never that of
 * the good orders.
 */
const forged = ({ way, place, by, raw, number }: Forging): BusRecord => {
  const order = lab.order('PrepareSlot', number, { device: 1 })
  const plain = recordOf(order)
  const text = raw.toWellFormed()
  const body = jsonOf(spoilt(JSON.parse(plain.value) as object, place, by)).toWellFormed()
  switch (way) {
    case 0:
      return plain
    case 1:
      return other.signed(plain)
    case 2:
      return other.signed(recordOf(order, THEIRS))
    case 3:
      return { ...cloud.signed(plain), value: body === plain.value ? `${body} ` : body }
    case 4:
      return { ...plain, headers: { ...cloud.signed(plain).headers, [SIGNATURE_HEADER]: text, [MAC_HEADER]: text } }
    case 5:
      return { ...other.signed(plain), headers: { ...other.signed(plain).headers, [SIGNER_HEADER]: cloud.publicKey } }
    case 6:
      return { ...plain, value: text }
    case 7:
      return { ...plain, value: `${plain.value}${' '.repeat(MESSAGE_MAX_BYTES - Buffer.byteLength(plain.value))}` }
    case 8:
      return {
        ...plain,
        value: body,
        headers: Object.fromEntries(Object.keys(plain.headers).map((name) => [name, text])),
      }
    default:
      return cloud.signed({ ...plain, value: body })
  }
}

describe('orders', () => {
  test(`that are unsigned, forged, of another cloud, too long or no orders at all change nothing between those of the cloud (seed ${SEED})`, async () => {
    const { calls, seen } = watched(lab.driver)
    const letters: string[] = []
    const take = async (record: BusRecord) => {
      const letter = readDeadLetter(record)
      if (letter.ok) letters.push(letter.value.body.reason)
    }
    await lab.bus.consume({ topic: 'dead-letters.v1', group: 'test', from: 'earliest', take })
    await lab.boot({ drivers: [seen], newKey: () => privateKeyOf('the host') })
    const say = async (...records: readonly BusRecord[]) => {
      await lab.bus.publish(records)
      await quiet(40)
    }
    const good = (number: number) =>
      cloud.signed(recordOf(lab.order(number % 2 === 1 ? 'PrepareSlot' : 'ReleaseSlot', number)))
    await say(good(1))
    const drawn = fc.sample(forging, { numRuns: RECORDS, seed: SEED })
    let last = 1
    for (let at = 0; at < drawn.length; at += AT_ONCE) {
      const some = drawn.slice(at, at + AT_ONCE).map(forged)
      const mine = good(++last)
      // each order of the cloud comes twice in the middle of the others, and once more when it was carried out
      await say(...some.slice(0, 5), mine, ...some.slice(5, 15), mine, ...some.slice(15))
      await say(mine)
      await lab.clock.pass(1000)
    }
    const { slot } = lab.order('PrepareSlot', 1)
    const mine = calls.filter((call) => call.endsWith(slot))
    expect(mine).toEqual(Array.from({ length: last }, (_, n) => `${n % 2 === 0 ? 'prepare' : 'release'} ${slot}`))
    expect((await lab.ledger()).find((entry) => entry['slot'] === slot)).toMatchObject({ number: last, state: 'done' })
    const results = lab.results().filter((result) => result.slot === slot)
    expect(new Set(results.map(({ number }) => number)).size).toBe(last)
    expect(results.every(({ result }) => result.status === 'done')).toBe(true)
    // only what had the key of the cloud may have reached the driver or the ledger
    const signed = drawn.filter(({ way }) => way === 9).map(({ number }) => number)
    const others = (await lab.ledger()).filter((entry) => entry['slot'] !== slot)
    expect(
      others.filter((entry) => !signed.includes(Number(entry['number'])) && Number(entry['number']) >= 1000),
    ).toEqual([])
    expect(letters.length).toBeGreaterThan(RECORDS / 2)
    expect(JSON.parse((await lab.disk.read('/state/cluster.json'))!)).toEqual({
      cluster: OURS,
      publicKey: cloud.publicKey,
    })
    expect(lab.heartbeats().length).toBeGreaterThan(1)
  })
  test('a message that is longer than any bus takes is never published, and the host goes on', async () => {
    await lab.boot()
    const plain = recordOf(lab.order('PrepareSlot', 1))
    await expect(
      lab.bus.publish([{ ...plain, value: `${plain.value}${' '.repeat(MESSAGE_MAX_BYTES)}` }]),
    ).rejects.toThrow('more than')
    await lab.send(lab.order('PrepareSlot', 2))
    expect(lab.results().map(({ number, result }) => `${number} ${result.status}`)).toEqual(['2 done'])
  })
})

describe('a ledger on disk', () => {
  const PATH = '/state/ledger.jsonl'
  const reopened = async (text: string) => {
    const disk = memoryDisk()
    await disk.replace(PATH, text)
    const before = await disk.read(PATH)
    try {
      const ledger = await openLedger({ disk, path: PATH, host: HOST, clock: handClock(), log: memoryLog(), boot: 2 })
      return { ledger, disk, refused: null, before }
    } catch (error) {
      return { ledger: null, disk, refused: (error as Error).message, before }
    }
  }
  const HEAD = { ledger: 1, host: HOST, from: 1, recalled: true }
  const written = (head: object, entries: readonly object[]) =>
    `${[head, ...entries].map((one) => JSON.stringify(one)).join('\n')}\n`
  const ENTRIES = [
    ledgerEntry('a', 7),
    ledgerEntry('b', 8, { state: 'in-hand', arq: 'x', sent: false }),
    ledgerEntry('ü \ud83d\ude00', 9, { result: { status: 'failed', reason: 'r', final: true } }),
  ]
  const WHOLE = written(HEAD, ENTRIES)

  test('that was cut anywhere is refused with its path, or obeyed as far as it has whole lines', async () => {
    for (let cut = 0; cut < WHOLE.length; cut++) {
      const text = WHOLE.slice(0, cut)
      const { ledger, refused, disk, before } = await reopened(text)
      if (refused !== null) {
        expect(refused).toContain(PATH)
        expect(text.includes('\n')).toBe(false)
        expect(await disk.read(PATH)).toBe(before)
      } else {
        const whole = text.split('\n').length - 2
        expect(ledger.all()).toEqual(ENTRIES.slice(0, Math.max(0, whole)))
      }
    }
  })
  test('with anything in one place is refused with its path and left as it is, or it is still a ledger', async () => {
    const lines = [HEAD, ...ENTRIES]
    await fc.assert(
      fc.asyncProperty(fc.nat(3), fc.nat(), hostileValue, hostileText, fc.nat(3), async (at, place, by, raw, way) => {
        const line = way === 0 ? raw.replaceAll('\n', '') : jsonOf(spoilt(lines[at]!, place, by))
        const text = `${lines.map((one, n) => (n === at ? line : JSON.stringify(one))).join('\n')}\n`
        const { ledger, refused, disk, before } = await reopened(text)
        if (refused === null) {
          for (const [n, entry] of ENTRIES.entries())
            if (n + 1 !== at) expect(ledger.get(entry.slot)?.number).toBeGreaterThanOrEqual(1)
          return
        }
        expect(refused).toContain(PATH)
        expect(refused).toContain('does not start')
        expect(await disk.read(PATH)).toBe(before)
      }),
      { numRuns: 500, seed: SEED },
    )
  })
  test.each([
    ['of a later version', written({ ...HEAD, ledger: 2 }, ENTRIES), 'line 1 cannot be read'],
    ['without a version', written({ host: HOST }, ENTRIES), 'line 1 cannot be read'],
    ['of another host', written({ ...HEAD, host: 'h2' }, ENTRIES), 'it belongs to the host h2, not h1'],
    ['with a line of half a surrogate pair', written(HEAD, []) + '\ud800\n', 'line 2 cannot be read'],
    ['that is empty', '', 'line 1 cannot be read'],
    ['of zero bytes, as a file system leaves it after a crash', '\0'.repeat(4096), 'line 1 cannot be read'],
    [
      'with a line that is cut in the middle',
      written(HEAD, []) + '{"slot":"a"\n' + JSON.stringify(ENTRIES[0]) + '\n',
      'line 2 cannot be read',
    ],
  ])('%s prevents the start, and stays as it is', async (_, text, reason) => {
    await lab.disk.replace(PATH, text)
    await expect(lab.boot()).rejects.toThrow(reason)
    expect(await lab.disk.read(PATH)).toBe(text)
    expect(lab.inventories()).toEqual([])
  })
  test('of a release up to 0.2.0 is read, with a torn last line that is left out: what was carried out is not carried out again', async () => {
    const { calls, seen } = watched(lab.driver)
    const order = lab.order('PrepareSlot', 5)
    const done = ledgerEntry(order.slot, 5, {
      driver: lab.driver.name,
      deployable: order.deployable,
      deployableUuid: order.deployableUuid,
    })
    await lab.disk.replace(PATH, `${written({ ledger: 1, host: HOST }, [done])}{"slot":"${order.slot}","number":6,"ty`)
    await lab.boot({ drivers: [seen] })
    await lab.send(order, lab.order('PrepareSlot', 4))
    expect(calls).toEqual([])
    await lab.send(lab.order('ReleaseSlot', 6), lab.order('ReleaseSlot', 6))
    expect(calls).toEqual([`release ${order.slot}`])
    expect(
      (await lab.disk.read(PATH))!
        .split('\n')
        .slice(0, -1)
        .every((line) => JSON.parse(line) as boolean),
    ).toBe(true)
  })
})
