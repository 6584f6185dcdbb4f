/**
 * Devices that are plugged in, by the events that a program prints. The program is a script in the place of `udevadm`.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { watchHotplug } from '../../src/cli/hardware/hotplug.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('hotplug')
afterAll(folder.remove)
let scripts = 0
const script = (text: string): string => {
  const path = join(folder.path, `udevadm-${++scripts}`)
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}
const watch = (program: string) => {
  const [clock, log] = [handClock(), memoryLog()]
  let changes = 0
  const waits: number[] = []
  const after: typeof clock.after = (ms, run) => {
    waits.push(ms)
    return clock.after(ms, run)
  }
  const stop = watchHotplug({ program, clock: { after }, log, changed: () => void changes++ })
  const said = () => log.said.map(({ message }) => message)
  return { clock, log, said, stop, waits, changes: () => changes }
}
const EVENT = 'echo "KERNEL[4.2] add /devices/pci0000:00/0000:00:04.0 (pci)"'

test('many events are one change, and later ones another', async () => {
  const told = join(folder.path, 'told')
  const go = join(folder.path, 'go')
  const it = watch(
    script(
      `echo "$@" > ${told}; echo monitor will print; ${EVENT}; ${EVENT}; touch ${told}.1; while [ ! -e ${go} ]; do sleep 0.02; done; ${EVENT}; touch ${told}.2; sleep 60`,
    ),
  )
  await expect.poll(() => existsSync(`${told}.1`), { timeout: 5000 }).toBe(true)
  await expect
    .poll(async () => {
      await it.clock.pass(1000)
      return it.changes()
    })
    .toBe(1)
  expect(readFileSync(told, 'utf8')).toBe('monitor --kernel --subsystem-match=pci --subsystem-match=mdev\n')
  writeFileSync(go, '')
  await expect.poll(() => existsSync(`${told}.2`), { timeout: 5000 }).toBe(true)
  await expect
    .poll(async () => {
      await it.clock.pass(1000)
      return it.changes()
    })
    .toBe(2)
  it.stop()
  expect([it.said(), it.waits]).toEqual([[], [1000, 1000]])
})

test('a machine without the program is told once, and nothing more', async () => {
  const program = join(folder.path, 'none')
  const it = watch(program)
  await expect.poll(it.said).toEqual(['hotplug.unwatched'])
  await it.clock.pass(1_000_000)
  const detail = { program, reason: `${program} is not installed` }
  expect(it.log.said).toEqual([{ level: 'info', detail, message: 'hotplug.unwatched' }])
  it.stop()
})

test('a program that ends is started again, each time later, until it is stopped', async () => {
  const program = script('exit 3')
  const it = watch(program)
  await expect.poll(it.said).toEqual(['hotplug.again'])
  await it.clock.pass(1000)
  await expect.poll(it.said).toHaveLength(2)
  expect(it.log.said.map(({ level, detail }) => [level, detail])).toEqual([
    ['warn', { program, reason: 'ended with 3', afterMs: 1000 }],
    ['warn', { program, reason: 'ended with 3', afterMs: 2000 }],
  ])
  it.stop()
  await it.clock.pass(1_000_000)
  expect(it.said()).toHaveLength(2)
})

test('a program that is killed again and again is started every five minutes at last', async () => {
  const it = watch(script('kill -9 $$'))
  for (let times = 1; times <= 11; times++) {
    await expect.poll(it.said).toHaveLength(times)
    if (times < 11) await it.clock.pass(it.waits.at(-1)!)
  }
  it.stop()
  const all = it.log.said.map(({ detail }) => detail)
  expect(new Set(all.map(({ reason }) => reason))).toEqual(new Set(['ended with a signal']))
  expect(all.slice(-3).map(({ afterMs }) => afterMs)).toEqual([256_000, 300_000, 300_000])
})

test('a program that has told of a change is started again as soon as one that ends for the first time', async () => {
  const it = watch(script(`${EVENT}; exit 3`))
  await expect.poll(it.said).toEqual(['hotplug.again'])
  await it.clock.pass(1000)
  await expect.poll(it.said).toHaveLength(2)
  expect(it.log.said.map(({ detail }) => detail['afterMs'])).toEqual([1000, 1000])
  it.stop()
})

test('stopping ends the program, and a change that was about to be told', async () => {
  const pid = join(folder.path, 'pid')
  const it = watch(script(`echo $$ > ${pid}; ${EVENT}; exec sleep 60`))
  await expect.poll(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '', { timeout: 5000 }).toBe(true)
  it.stop()
  await it.clock.pass(10_000)
  expect(it.changes()).toBe(0)
  const state = () => {
    try {
      return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${readFileSync(pid, 'utf8').trim()}/status`, 'utf8'))?.[1]
    } catch {
      return 'gone'
    }
  }
  await expect.poll(state).toMatch(/Z|gone/)
})

const isAlive = (pid: string): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid))
const statusOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return 'State: Z'
  }
}
const WATCHING = join(import.meta.dirname, '../support/fixtures/watchingHost.ts')
test.each([
  ['is killed', 'SIGKILL'],
  ['ends', 'SIGTERM'],
] as const)('HOTPLUG-1 the program ends when the process that watches %s', async (_, signal) => {
  const pids = join(folder.path, `pids-${signal}`)
  const program = script(`echo $$ > ${pids}; exec sleep 60`)
  const host = spawn(process.execPath, [WATCHING, program], { stdio: 'inherit' })
  await expect.poll(() => existsSync(pids) && readFileSync(pids, 'utf8').trim(), { timeout: 20_000 }).toMatch(/^\d+$/)
  const pid = readFileSync(pids, 'utf8').trim()
  expect(isAlive(pid)).toBe(true)
  host.kill(signal)
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
})
