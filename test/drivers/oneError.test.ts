/**
 * One error at each path that drivers read, one path after the other, on a host with hardware for each driver; and the
 * order of listings.
 */
import { beforeAll, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { Section } from '../../src/host/sections.ts'
import { everyDriver, everyDriverHost } from './everyDriverHost.ts'
import { type Fault, faultyHost, lookedAt, type Looked, sameHosts } from './faultyHost.ts'

const fresh = sameHosts(everyDriverHost())
const looked = (fault: (access: string) => Fault | undefined, drivers = everyDriver()): Promise<Looked> =>
  lookedAt(faultyHost(fresh(), fault), drivers)

/** Of the host without any fault: what each driver reports, and what it asks for. */
let whole: readonly Section[] = []
const accesses = new Map<string, ReadonlySet<string>>()
let all: readonly string[] = []
const sectionOf = (driver: string): Section => whole.find((one) => one.driver === driver)!
/** What the drivers that make the access then report, and one after the other of those that do not. */
const failing = async (at: string, code: string, turn: number): Promise<readonly Section[]> => {
  const drivers = everyDriver()
  const [asking, others] = [true, false].map((does) =>
    drivers.filter(({ name }) => accesses.get(name)!.has(at) === does),
  ) as [Driver[], Driver[]]
  const fault: Fault = { as: 'error', code }
  const beside = [...asking, others[turn % others.length]!]
  return (await looked((access) => (access === at ? fault : undefined), beside)).sections
}
beforeAll(async () => {
  whole = (await looked(() => undefined)).sections
  for (const driver of everyDriver()) {
    const alone = faultyHost(fresh(), () => undefined)
    await lookedAt(alone, [driver])
    accesses.set(driver.name, alone.accesses)
  }
  all = [...new Set([...accesses.values()].flatMap((one) => [...one]))].toSorted()
})

test('the host has hardware for each driver', () => {
  for (const section of whole) {
    expect(section).toMatchObject({ status: 'ok' })
    expect(section.status === 'ok' && section.devices.length).toBeGreaterThan(0)
  }
})

test('the order of a listing changes nothing of the report', async () => {
  for (const by of [1, 7, 100])
    expect(
      (await looked((access) => (access.startsWith('list ') ? { as: 'permuted', by } : undefined))).sections,
    ).toEqual(whole)
})

/** Names for people are read of this file; without it devices are reported with other models. */
const NAMES = 'read /usr/share/misc/pci.ids'
const withoutModels = (section: Section): unknown =>
  section.status === 'ok' ? section.devices.map((device) => ({ ...device, model: '' })) : section

test('an error at any path fails the drivers that need it, with the path as the reason, and nothing else changes', async () => {
  const failed = new Map<string, string[]>()
  for (const [at, access] of [...all].entries()) {
    for (const section of await failing(access, at % 2 === 0 ? 'EIO' : 'EACCES', at)) {
      const isAsked = accesses.get(section.driver)!.has(access)
      if (isAsked && section.status === 'failed') {
        expect(section.error).toContain(access)
        failed.set(access, [...(failed.get(access) ?? []), section.driver])
      } else if (access === NAMES) expect(withoutModels(section)).toEqual(withoutModels(sectionOf(section.driver)))
      else expect(section).toEqual(sectionOf(section.driver))
    }
  }
  // what every driver of PCI cards reads fails all of these, and no driver that reads something else
  expect(failed.get('read /sys/bus/pci/devices/0000:3b:00.0/vendor')).toHaveLength(11)
  expect(failed.get('read /proc/driver/nvidia/gpus/0000:41:00.0/information')).toEqual([
    'pci_driver',
    'nvidia_gpu_driver',
  ])
  expect(failed.has(NAMES)).toBe(false)
}, 120_000)

test('what is not there any more fails a driver with a reason or is not reported, and changes nothing of drivers that do not ask for it', async () => {
  const few = all.filter((access) => everyDriver().filter(({ name }) => accesses.get(name)!.has(access)).length < 5)
  expect(few.length).toBeGreaterThan(50)
  for (const [at, access] of few.entries())
    for (const section of await failing(access, 'ENOENT', at))
      if (!accesses.get(section.driver)!.has(access)) expect(section).toEqual(sectionOf(section.driver))
      else if (section.status === 'failed') expect(section.error).toMatch(/\S/)
}, 120_000)

test('without names for people the cards are reported all the same, and the names follow once they can be read', async () => {
  let broken = true
  const [host, drivers] = [fresh(), everyDriver().filter(({ name }) => name === 'nvidia_gpu_driver')]
  const warnings: unknown[] = []
  const faulty = faultyHost(
    { ...host, warn: (event, detail) => void warnings.push([event, detail['path']]) },
    (access) => (access === NAMES && broken ? { as: 'error', code: 'EACCES' } : undefined),
  )
  const modelAt = async (bus: string): Promise<string | undefined> => {
    const [section] = (await lookedAt(faulty, drivers)).sections
    const devices = section?.status === 'ok' ? section.devices : []
    return devices.find(({ controlPath }) => controlPath.info.includes(`"${bus}"`))?.model
  }
  expect(await modelAt('b0')).toBe('A100 PCIe 40GB')
  const logged = [...warnings]
  expect(logged).toContainEqual(['pci_names_unreadable', '/usr/share/misc/pci.ids'])
  expect(await modelAt('b0')).toBe('A100 PCIe 40GB')
  expect(warnings).toEqual(logged)
  broken = false
  expect(await modelAt('b0')).toBe('NVIDIA Corporation GA100 [A100 PCIe 40GB]')
})
