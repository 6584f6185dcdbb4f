/**
 * Whatever a host answers to its drivers, its report is made: a driver that cannot go on names a reason, and the others
 * report what they have.
 */
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { Section } from '../../src/host/sections.ts'
import { anyName, anyText, isMistake } from './anyText.ts'
import { never, slotsOf } from './driver.contract.ts'
import { everyDriver, everyDriverHost } from './everyDriverHost.ts'
import { type Fault, type Faults, faultyHost, lookedAt, sameHosts } from './faultyHost.ts'

const SEED = 20261125
const fresh = sameHosts(everyDriverHost())

/** Of the host without any fault: what each driver reports, and what it asks for. */
let whole: readonly Section[] = []
const accesses = new Map<string, ReadonlySet<string>>()
let all: readonly string[] = []
/** After a first report, drivers also read what they have kept. */
const twice = async (drivers: readonly Driver[], faults: Faults) => {
  const host = faultyHost(fresh(), (access) => faults.get(access))
  const first = await lookedAt(host, drivers)
  return { host, reports: [first, ...(host.counts().never > 0 ? [] : [await lookedAt(host, drivers)])] }
}
beforeAll(async () => {
  const drivers = everyDriver()
  whole = (await twice(drivers, new Map())).reports[0]!.sections
  for (const driver of drivers) accesses.set(driver.name, (await twice([driver], new Map())).host.accesses)
  all = [...new Set([...accesses.values()].flatMap((one) => [...one]))].toSorted()
})

const fault: fc.Arbitrary<Fault> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      as: fc.constant('answer' as const),
      text: anyText,
      names: fc.array(anyName, { maxLength: 50 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      as: fc.constant('error' as const),
      code: fc.constantFrom(
        'ENOENT',
        'EACCES',
        'EIO',
        'ENOTDIR',
        'EISDIR',
        'ELOOP',
        'EMFILE',
        'ENODEV',
        'ECONNREFUSED',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ as: fc.constant('permuted' as const), by: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.constant({ as: 'never' as const }) },
)
/** Half of them at what lies outside of the folders of functions, of which there are many that are alike. */
const place = fc.oneof(
  fc.nat().map((n) => all[n % all.length]!),
  fc.nat().map((n) => {
    const few = all.filter((access) => !/^(?:read|list|link) .*\/bus\/pci\/devices\/./.test(access))
    return few[n % few.length]!
  }),
)
const faultsAt = fc.array(fc.tuple(place, fault), { minLength: 1, maxLength: 6 }).map((pairs): Faults => new Map(pairs))

/** Placement's rules of names (os-traits, provider names), and what the control compares. */
const isSound = ({ deployables, controlPath }: ReportedDevice): void => {
  for (const { name, attributes, handles, numAccelerators } of deployables) {
    expect(name.length).toBeLessThanOrEqual(200)
    const named = attributes.filter(({ key }) => key === 'rc' || key.startsWith('trait'))
    expect(named.filter(({ key }) => key === 'rc')).toHaveLength(1)
    for (const { value } of named) expect(value).toMatch(/^[A-Z0-9_]{1,255}$/)
    const infos = handles.map(({ info }) => JSON.stringify(info))
    expect(new Set(infos).size, controlPath.info).toBe(infos.length)
    expect(numAccelerators).toBeLessThanOrEqual(handles.length)
  }
}
test('the report is made, each driver that fails names a reason, and drivers that were not lied to report what they have', async () => {
  await fc.assert(
    fc.asyncProperty(faultsAt, async (faults) => {
      const { reports } = await twice(everyDriver(), faults)
      for (const { sections, thrown } of reports) {
        expect(thrown.filter(({ error }) => isMistake(error))).toEqual([])
        expect(sections.map(({ driver }) => driver)).toEqual(whole.map(({ driver }) => driver))
        for (const [n, section] of sections.entries()) {
          const asks = accesses.get(section.driver)!
          if (![...faults.keys()].some((access) => asks.has(access))) expect(section).toEqual(whole[n])
          if (section.status === 'failed') expect(section.error).toMatch(/\S/)
          else for (const device of section.devices) isSound(device)
        }
      }
    }),
    { seed: SEED, numRuns: 120 },
  )
}, 60_000)

test('what else is asked of a driver ends with an answer or a reason, and prepares no slot that the host does not have', async () => {
  const lying = faultsAt.filter((faults) => [...faults.values()].every(({ as }) => as !== 'never'))
  await fc.assert(
    fc.asyncProperty(lying, async (faults) => {
      const drivers = everyDriver()
      const sane = fresh()
      const host = faultyHost(sane, (access) => faults.get(access))
      const mistakes: unknown[] = []
      const tried = async (work: Promise<unknown> | undefined): Promise<void> => {
        await work?.catch((error: unknown) => isMistake(error) && mistakes.push(error))
      }
      await Promise.all(
        drivers.map(async (driver) => {
          const devices = await driver.discover(sane)
          const [slot] = slotsOf(devices)
          await tried(driver.leftOut?.(host))
          await tried(driver.inUse?.(host))
          await tried(driver.restore?.(host, never))
          await tried(
            driver.measure?.(
              host,
              devices.map(({ controlPath }) => controlPath.info),
              never,
            ),
          )
          if (slot === undefined) return
          await tried(driver.prepare(host, slot, never))
          await tried(driver.program?.(host, slot.deployable, '/images/design-one.gbs', never))
          await tried(driver.release(host, slot, never))
        }),
      )
      expect(mistakes).toEqual([])
    }),
    { seed: SEED, numRuns: 80 },
  )
}, 60_000)
