/**
 * `npm run bench:scan`: what it costs a host program to look at its hardware, in processor time. A host of 64 devices
 * of all kinds lies on a disk; the floor is reading and listing the same files, links and folders, each as often as the
 * drivers did, by themselves.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver, HostIo } from '../src/drivers/driver.ts'
import { realHostIo } from '../src/drivers/hostIo.ts'
import { driverByName, HARDWARE_DRIVERS } from '../src/drivers/index.ts'

const ROUNDS = 15
const DEVICES = 64
/** Vendor, product and class of what the cards of the host are in turn. */
const KINDS = [
  ['10de', '2330', '030200'],
  ['10de', '1eb8', '030200'],
  ['8086', '37c8', '0b4000'],
  ['8086', '158b', '020000'],
  ['8086', '09c4', '120000'],
  ['10ee', '5000', '120000'],
  ['1bd4', '1001', '010802'],
  ['1da3', '1020', '120000'],
] as const

const root = mkdtempSync(join(tmpdir(), 'bench-scan-'))
const sys = join(root, 'sys')
const plant = (address: string, [vendor, device, pciClass]: readonly string[], more: () => void): void => {
  const folder = join(sys, 'devices', address)
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries({ vendor, device, class: pciClass }))
    writeFileSync(join(folder, name), `0x${text}\n`)
  writeFileSync(join(folder, 'driver_override'), '(null)\n')
  symlinkSync(`../../../devices/${address}`, join(sys, 'bus/pci/devices', address))
  more()
}
mkdirSync(join(sys, 'bus/pci/devices'), { recursive: true })
for (let n = 0; n < DEVICES; n++) {
  const kind = KINDS[n % KINDS.length]!
  const bus = (16 + n).toString(16)
  plant(`0000:${bus}:00.0`, kind, () => {
    if (kind[1] !== '1eb8') return
    const type = join(sys, 'devices', `0000:${bus}:00.0/mdev_supported_types/nvidia-223`)
    mkdirSync(join(type, 'devices'), { recursive: true })
    writeFileSync(join(type, 'name'), 'GRID T4-2B\n')
    writeFileSync(join(type, 'available_instances'), '8\n')
    writeFileSync(join(type, 'description'), 'framebuffer=2048M, max_instance=8\n')
  })
  if (kind[1] === '5000') plant(`0000:${bus}:00.1`, ['10ee', '5001', '120000'], () => {})
}
const divided = Array.from({ length: DEVICES }, (_, n) => n)
  .filter((n) => KINDS[n % KINDS.length]![1] === '1eb8')
  .map((n) => `0000:${(16 + n).toString(16)}:00.0`)

const io = realHostIo({ hostname: 'bench', stateDir: join(root, 'state'), warn: () => {} })
/** What the drivers asked for, in order. */
const asked: (() => Promise<unknown>)[] = []
const noted: HostIo = {
  ...io,
  read: (path) => {
    asked.push(() => io.read(path).catch(() => null))
    return io.read(path)
  },
  list: (path) => {
    asked.push(() => io.list(path).catch(() => null))
    return io.list(path)
  },
  link: (path) => {
    asked.push(() => io.link(path))
    return io.link(path)
  },
}
const drivers = HARDWARE_DRIVERS.map((name): Driver => {
  const reading = driverByName(name, {
    pci: { sysfsRoot: sys, whitelist: '[{"vendor_id": "10de"}]' },
    gpu: { types: ['nvidia-223'], addresses: { 'nvidia-223': divided } },
  })
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.driver
})

const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}
const scan = async (by: HostIo): Promise<number> => {
  // as a host program looks: with all of them at once
  const found = await Promise.all(drivers.map((driver) => driver.discover(by)))
  return found.flat().length
}

const found = await scan(noted)
const calls = asked.splice(0)
const whole = await cpuMs(() => scan(io))
const floor = await cpuMs(async () => {
  for (const call of calls) await call()
})
const ms = (value: number): string => `${value.toFixed(1)} ms`
console.log(`${drivers.length} drivers find ${found} devices in ${calls.length} reads`)
console.log(`a look       ${ms(whole)} of processor time`)
console.log(`reads alone  ${ms(floor)}`)
console.log(`beyond them  ${ms(whole - floor)} (goal: at most 100 ms)`)
console.log(
  `resident     ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB with all drivers loaded (goal of a host program: 120)`,
)
rmSync(root, { recursive: true })
