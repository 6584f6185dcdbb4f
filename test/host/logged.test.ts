/** What a host writes to its log: whole entries, with all that an operator needs to act upon them. */
import { describe, expect, test } from 'vitest'
import type { RunEnd } from '../../src/drivers/runToEnd.ts'
import { nextBoot } from '../../src/host/boot.ts'
import { type Disk, memoryDisk } from '../../src/host/disk.ts'
import { hardwareInUse } from '../../src/host/hardwareInUse.ts'
import { openIdentity } from '../../src/host/identity.ts'
import { openOffsetStore } from '../../src/host/offsetStore.ts'
import { type PlaybookTools, Playbooks } from '../../src/host/playbooks.ts'
import { Survivors } from '../../src/host/survivors.ts'
import { signerFrom } from '../../src/wire/signature.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { openHostLab } from '../support/hostLab.ts'
import { privateKeyOf } from '../support/keys.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const entry = (level: string, message: string, detail: object) => ({ level, message, detail })

describe('the log tells', () => {
  /** The playbook takes 70 s, and ends as it is told. */
  const machine = async (ends: readonly RunEnd[], disk: Disk = memoryDisk(), killAged?: PlaybookTools['killAged']) => {
    const [clock, log, left] = [handClock(), memoryLog(), [...ends]]
    const tools: PlaybookTools = {
      dir: '/books',
      program: 'ansible-playbook',
      limitMs: 5000,
      environment: {},
      programAt: async (name) => `/usr/bin/${name}`,
      killAged: killAged ?? (async () => []),
      run: () => {
        const { promise, resolve } = Promise.withResolvers<RunEnd>()
        clock.after(70_000, () => resolve(left.shift()!))
        return promise
      },
    }
    const io = recordedHostIo({ books: { a: { 'setup.yml': 'set up' } } })
    const playbooks = await Playbooks.open({
      tools,
      host: 'h1',
      drivers: ['a'],
      stateDir: '/state',
      io,
      disk,
      clock,
      log,
    })
    return {
      clock,
      log,
      playbooks,
      start: () =>
        playbooks.start(
          () => 0,
          () => undefined,
        ),
    }
  }
  const about = { host: 'h1', driver: 'a', playbook: 'setup' }
  const WELL: RunEnd = { failure: null, output: '', cut: 0 }

  test('that a playbook begins, fails and is tried again, and how long it took', async () => {
    const { clock, log, start } = await machine([{ ...WELL, failure: 'exit status 2' }, WELL])
    start()
    await clock.pass(70_000)
    const failed = [
      entry('info', 'playbook.begun', about),
      entry('warn', 'playbook.failed', { ...about, ms: 70_000, reason: 'exit status 2' }),
      entry('info', 'playbooks.again', { host: 'h1', due: 1, inMs: 60_000 }),
    ]
    expect(log.said).toEqual(failed)
    await clock.pass(130_000)
    expect(log.said.slice(3)).toEqual([
      entry('info', 'playbook.begun', about),
      entry('info', 'playbook.done', { ...about, ms: 70_000 }),
    ])
  })
  test('which processes of a playbook of an earlier start were killed, and by which limit', async () => {
    const processes = [{ pid: 7, program: 'ansible-playbook', ageMs: 6000 }]
    const locked = { ...WELL, failure: 'exit status 75' }
    const { clock, log, start } = await machine([locked], memoryDisk(), async () => processes)
    start()
    await clock.pass(70_000)
    expect(log.said[1]).toEqual(entry('warn', 'playbook.survivorKilled', { host: 'h1', processes, limitMs: 5000 }))
  })
  test('that a playbook could not be recorded, and that the record of earlier ones cannot be read', async () => {
    const [memory, path] = [memoryDisk(), '/state/playbooks.json']
    await memory.replace(path, '{}')
    let full = false
    const replace: Disk['replace'] = (...to) => (full ? Promise.reject(new Error('ENOSPC')) : memory.replace(...to))
    const { clock, log, start } = await machine([], { ...memory, replace })
    full = true
    start()
    await clock.pass(0)
    expect(log.said.slice(0, 2)).toEqual([
      entry('warn', 'playbooks.unreadable', { host: 'h1', path }),
      entry('error', 'playbook.notKept', { ...about, reason: 'ENOSPC' }),
    ])
  })
})

describe('the log tells of the files of a host', () => {
  test('that a key was made, with the public part that an operator compares', async () => {
    const [disk, log, path] = [memoryDisk(), memoryLog(), '/state/key.pem']
    const newKey = () => privateKeyOf('h1')
    await openIdentity({ disk, path, host: 'h1', newKey, log })
    await openIdentity({ disk, path, host: 'h1', newKey, log })
    const { publicKey } = signerFrom(newKey())
    expect(log.said).toEqual([entry('info', 'host.keyMade', { host: 'h1', path, publicKey })])
  })
  test('which of them cannot be read or written', async () => {
    const [disk, log, clock, path] = [memoryDisk(), memoryLog(), handClock(), '/state/x']
    await disk.replace(path, 'no JSON')
    const replace: Disk['replace'] = () => Promise.reject(new Error('ENOSPC'))
    const place = await openOffsetStore({ disk: { ...disk, replace }, path, clock, log })
    place.moved({ bus: 'b', partition: 0, offset: 1 })
    await place.close('orderly')
    await nextBoot({ disk, path, clock, log })
    expect(log.said).toEqual([
      entry('warn', 'host.placeUnreadable', { path }),
      entry('warn', 'host.placeNotKept', { path, reason: 'ENOSPC' }),
      entry('warn', 'host.bootUnreadable', { path }),
    ])
  })
})

test('the log tells which driver cannot say what is in use, and that programs on cards cannot be looked for', async () => {
  const [log, clock] = [memoryLog(), handClock()]
  const watch = { name: 'd', inUse: () => Promise.reject(new Error('no bus')) }
  expect(await hardwareInUse([watch] as never, { host: 'h1', log })).toBe(null)
  const tools = { atWork: () => Promise.reject(new Error('no flock')), kill: async () => undefined }
  await Survivors.open({ tools, host: 'h1', clock, log, limitMs: 1 })
  expect(log.said).toEqual([
    entry('warn', 'inventory.useUnknown', { host: 'h1', driver: 'd', reason: 'no bus' }),
    entry('warn', 'tools.unknown', { host: 'h1', reason: 'no flock' }),
  ])
})

test('the log tells of each order that comes what follows for it, and why one is left alone', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', '{"ledger":1,"host":"h1","from":1,"recalled":true}\n')
  await lab.boot()
  const order = lab.order('PrepareSlot', 3)
  for (const one of [order, order, lab.order('ReleaseSlot', 2)]) await lab.send(one)
  const came = (number: number, type: string, judgement: string) =>
    entry('debug', 'order.came', { slot: order.slot, number, type, judgement })
  const said = (message: string) => lab.log.said.filter((one) => one.message === message)
  expect(said('order.came')).toEqual([
    came(3, 'PrepareSlot', 'carry out'),
    came(3, 'PrepareSlot', 'answer'),
    came(2, 'ReleaseSlot', 'ignore'),
  ])
  const other = await openHostLab()
  await other.disk.replace('/state/ledger.jsonl', '{"ledger":1,"host":"h1","from":8000000000000000,"recalled":true}\n')
  await other.boot()
  await other.send(other.order('PrepareSlot', 3))
  expect(other.log.said.filter(({ message }) => message === 'order.leftAlone')).toEqual([
    entry('info', 'order.leftAlone', {
      slot: order.slot,
      number: 3,
      type: 'PrepareSlot',
      reason: 'it was sent before the ledger of this host began, and does not say for which start',
    }),
  ])
})
