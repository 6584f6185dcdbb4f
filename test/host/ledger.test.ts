import { ledgerEntry } from './ledgerEntry.ts'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Disk } from '../../src/host/disk.ts'
import { fileDisk, memoryDisk } from '../../src/host/disk.ts'
import { handleKey, judge } from '../../src/host/entry.ts'
import { openLedger } from '../../src/host/ledger.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { openHostLab } from '../support/hostLab.ts'

const PREPARED = handleKey({ type: 'PCI', info: { domain: '0000', bus: 'af', device: '00', function: '0' } })
const open = async (disk: Disk) => {
  const [clock, log] = [handClock(), memoryLog()]
  return { clock, log, ledger: await openLedger({ boot: 1, disk, path: '/l', host: 'h1', clock, log }) }
}

describe('disk', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'disk-'))))
  afterEach(() => rm(folder, { recursive: true }))

  test.each([
    ['files', () => fileDisk],
    ['memory', memoryDisk],
  ])('%s: a file is there as it was last replaced, or not at all', async (_, make) => {
    const disk = make()
    const path = join(folder, 'deep', 'er', 'file')
    expect(await disk.read(path)).toBe(null)
    for (const text of ['one', '', 'grüße ✓\n']) {
      await disk.replace(path, text)
      expect(await disk.read(path)).toBe(text)
    }
  })
  test('a file is for the user of the host alone', async () => {
    const path = join(folder, 'file')
    await fileDisk.replace(path, 'text')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
  test('a replaced file leaves nothing beside it, and a leftover of a killed writer is no obstacle', async () => {
    const path = join(folder, 'file')
    await writeFile(`${path}.tmp`, 'half of someth')
    await fileDisk.replace(path, 'whole')
    expect(await readdir(folder)).toEqual(['file'])
    expect(await readFile(path, 'utf8')).toBe('whole')
  })
  test.each([
    ['files', () => fileDisk],
    ['memory', memoryDisk],
  ])('%s: text is added to a file that is there, and to no other', async (_, make) => {
    const disk = make()
    const path = join(folder, 'file')
    await expect(disk.append(path, 'x')).rejects.toThrow('ENOENT')
    await disk.replace(path, 'one\n')
    await disk.append(path, 'two\n')
    await disk.append(path, 'grüße\n')
    expect(await disk.read(path)).toBe('one\ntwo\ngrüße\n')
  })
  test('a path that cannot be read is an error, not an absence', async () => {
    await expect(fileDisk.read(folder)).rejects.toThrow('EISDIR')
  })
})

describe('ledger', () => {
  test('LEDGER-3 what is asked for while a write is under way shares the next one', async () => {
    const memory = memoryDisk()
    let writes = 0
    const slow = (write: Disk['replace']) => async (path: string, text: string) => {
      writes++
      await quiet(2)
      await write(path, text)
    }
    const { ledger } = await open({ ...memory, replace: slow(memory.replace), append: slow(memory.append) })
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        if (n > 0) await quiet(1)
        await ledger.write(ledgerEntry(`s${n}`, 1))
      }),
    )
    expect(writes).toBeLessThanOrEqual(3)
    expect((await open(memory)).ledger.all()).toHaveLength(50)
  })
  test('LEDGER-5 of more than 50,000 slots those without orders for longest are forgotten: first one that is not prepared', async () => {
    const { ledger } = await open(memoryDisk())
    ledger.note(ledgerEntry('in hand', 1, { state: 'in-hand' }))
    ledger.note(ledgerEntry('prepared', 2, { handle: PREPARED }))
    ledger.note(ledgerEntry('released', 3, { type: 'ReleaseSlot' }))
    for (let n = 4; n <= 50_000; n++) ledger.note(ledgerEntry(`s${n}`, n))
    const there = () => ['in hand', 'prepared', 'released', 's4'].filter((slot) => ledger.get(slot) !== undefined)
    expect(there()).toEqual(['in hand', 'prepared', 'released', 's4'])
    ledger.note(ledgerEntry('s4', 50_001))
    expect(ledger.all()).toHaveLength(50_000)
    ledger.note(ledgerEntry('one more', 50_002))
    expect(there()).toEqual(['in hand', 'prepared', 's4'])
    expect(ledger.fence.isOpen).toBe(false)
    ledger.note(ledgerEntry('another', 50_003))
    expect([there(), ledger.fence.isOpen]).toEqual([['in hand', 's4'], true])
    expect(ledger.all()).toHaveLength(50_000)
    await ledger.close(true)
  })
  test('LEDGER-2 a torn last line is left out, and nothing is written behind it', async () => {
    const disk = memoryDisk()
    const first = (await open(disk)).ledger
    await first.write(ledgerEntry('a', 1))
    await first.write(ledgerEntry('a', 2))
    await first.write(ledgerEntry('a', 3))
    expect(disk.tearLast()).toBe(true)
    const second = (await open(disk)).ledger
    expect(second.get('a')?.number).toBe(2)
    await second.write(ledgerEntry('b', 1))
    expect((await open(disk)).ledger.all().map(({ slot, number }) => `${slot}${number}`)).toEqual(['a2', 'b1'])
    // a write that fails half way is no reason to stop either
    let torn = false
    const tearing: Disk = {
      ...disk,
      append: async (path, text) => {
        if (torn) return disk.append(path, text)
        torn = true
        await disk.append(path, text.slice(0, 10))
        throw new Error('ENOSPC')
      },
    }
    const { ledger, clock } = await open(tearing)
    void ledger.write(ledgerEntry('c', 1))
    await clock.pass(1000)
    await ledger.write(ledgerEntry('d', 1))
    expect((await open(disk)).ledger.all().map(({ slot }) => slot)).toEqual(['a', 'b', 'c', 'd'])
  })
  test('LEDGER-2 the file is written anew before it grows long', async () => {
    const disk = memoryDisk()
    const { ledger } = await open(disk)
    let longest = 0
    for (let number = 1; number < 10_000; number++) {
      await ledger.write(ledgerEntry('a', number))
      if (number % 100 === 0) longest = Math.max(longest, (await disk.read('/l'))!.split('\n').length)
    }
    expect(longest).toBeLessThan(4200)
    expect((await open(disk)).ledger.get('a')?.number).toBe(9999)
  })
  test('a write waits for a disk that refuses, and is there before it resolves', async () => {
    const memory = memoryDisk()
    let refusals = 3
    const { ledger, clock, log } = await open({
      ...memory,
      replace: async (path, text) => {
        if (refusals-- > 0) throw new Error('ENOSPC')
        await memory.replace(path, text)
      },
    })
    let written = false
    void ledger.write(ledgerEntry('a', 1)).then(() => (written = true))
    await clock.pass(100)
    expect([written, await memory.read('/l')]).toEqual([false, null])
    await clock.pass(1000)
    expect(written).toBe(true)
    expect(log.said).toHaveLength(3)
  })
  test('a note is known at once, and on disk within a second or at the close', async () => {
    const disk = memoryDisk()
    const { ledger, clock } = await open(disk)
    ledger.note(ledgerEntry('a', 1))
    expect(ledger.get('a')?.number).toBe(1)
    await clock.pass(999)
    expect(await disk.read('/l')).toBe(null)
    await clock.pass(2)
    expect((await open(disk)).ledger.get('a')?.number).toBe(1)
    ledger.note(ledgerEntry('b', 1))
    await ledger.close(false)
    expect((await open(disk)).ledger.all()).toHaveLength(2)
  })
  test.each([
    ['{"ledger":1,"host":"h2"}\n', 'belongs to the host h2'],
    ['', 'line 1 cannot be read'],
    ['{"ledger":1,', 'line 1 cannot be read'],
    ['{"ledger":2,"host":"h1"}\n', 'line 1 cannot be read'],
    [`{"ledger":1,"host":"h1"}\n${JSON.stringify(ledgerEntry('a', 1))}\n{"slot":\n`, 'line 3 cannot be read'],
    [`{"ledger":1,"host":"h1"}\n${JSON.stringify({ ...ledgerEntry('a', 1), number: 0 })}\n`, 'line 2 cannot be read'],
  ])('LEDGER-4 case %#: it does not start over a ledger that is not whole or not its own', async (text, reason) => {
    const disk = memoryDisk()
    await disk.replace('/l', text)
    await expect(open(disk)).rejects.toThrow(reason)
    expect(await disk.read('/l')).toBe(text)
  })
})

describe('LEDGER-5 pruning', () => {
  const WEEK = 7 * 24 * 3600 * 1000
  const slots = (entries: readonly Record<string, unknown>[]) => entries.length
  test('what is gone from the hardware, answered and quiet for a week is forgotten, with its number', async () => {
    const lab = await openHostLab()
    const host = await lab.boot()
    await lab.send(lab.order('ReleaseSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }), lab.order('Program', 1))
    lab.driver.control.unplug(0)
    await lab.clock.pass(60_000)
    expect(slots(await lab.ledger())).toBe(3)
    await lab.kill(host)
    // nearly a week without this host, then a few reports
    await lab.clock.pass(WEEK - 120_000)
    await lab.boot()
    expect(slots(await lab.ledger())).toBe(3)
    await lab.clock.pass(240_000)
    expect((await lab.ledger()).map(({ slot }) => slot)).toEqual([lab.order('PrepareSlot', 1, { device: 1 }).slot])
  })
  test('nothing is forgotten while its driver fails, nor while it is in hand or unsent', async () => {
    const lab = await openHostLab()
    const ledgerKeepMs = 1000
    let broken = false
    const discover: typeof lab.driver.discover = (io) =>
      broken ? Promise.reject(new Error('no sysfs')) : lab.driver.discover(io)
    const prepare = (_: unknown, { deployable }: { readonly deployable: string }) =>
      deployable === lab.devices[2]!.deployables[0]!.name ? new Promise<void>(() => {}) : Promise.resolve()
    const host = await lab.boot({
      drivers: [{ ...lab.driver, discover, prepare }],
      options: { ledgerKeepMs, limits: { PrepareSlotMs: 1e9 } },
    })
    await lab.send(lab.order('ReleaseSlot', 1), lab.order('PrepareSlot', 1, { device: 2, deadline: 8e15 }))
    broken = true
    lab.driver.control.unplug(0)
    lab.driver.control.unplug(2)
    await lab.clock.pass(130_000)
    expect(await lab.ledger()).toHaveLength(2)
    broken = false
    await lab.clock.pass(130_000)
    expect(await lab.ledger()).toMatchObject([{ state: 'in-hand' }])
    await lab.kill(host)
  })
})

test('LEDGER-5 what the hardware still shows is remembered, however long it is quiet', async () => {
  const lab = await openHostLab()
  await lab.boot({ options: { ledgerKeepMs: 1000 } })
  const shown = lab.order('ReleaseSlot', 1, { device: 1 })
  await lab.send(lab.order('ReleaseSlot', 1), shown)
  lab.driver.control.unplug(0)
  await lab.clock.pass(200_000)
  expect((await lab.ledger()).map(({ slot }) => slot)).toEqual([shown.slot])
})

test('ORDERS-1 ORDERS-2 ORDERS-3 what follows for the next order', () => {
  fc.assert(
    fc.property(fc.nat(5), fc.nat(5), fc.boolean(), fc.boolean(), (last, next, done, running) => {
      const known = last === 0 ? undefined : ledgerEntry('a', last, { state: done ? 'done' : 'in-hand' })
      const judgement = judge(known, next + 1, running)
      if (known === undefined || next + 1 > last) expect(judgement).toBe('carry out')
      else if (next + 1 < last) expect(judgement).toBe('ignore')
      else expect(judgement).toBe(running ? 'wait' : done ? 'answer' : 'carry out')
    }),
  )
})
