/** What every driver keeps, whatever its devices. One suite, run over each of them. */
import { describe, expect, test } from 'vitest'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { canonicalInfo } from '../../src/vocabulary/pci.ts'
import type { RecordedHost } from './recordedHostIo.ts'

export const never = new AbortController().signal

export const uuidOf = (n: number): string => `5107${String(n).padStart(4, '0')}-0000-4000-8000-000000000000`

/** A slot for each handle, numbered through. */
export const slotsOf = (devices: readonly ReportedDevice[]): readonly Slot[] =>
  devices
    .flatMap(({ deployables }) => deployables)
    .flatMap(({ name, handles }) => handles.map((handle) => ({ deployable: name, ...handle })))
    .map((slot, n) => ({ uuid: uuidOf(n), ...slot }))

const deployablesOf = async (driver: Driver, io: RecordedHost): Promise<readonly ReportedDeployable[]> =>
  (await driver.discover(io)).flatMap(({ deployables }) => deployables)

type Make = () => { readonly driver: Driver; readonly io: RecordedHost }

/** For a driver whose devices have attach handles. */
const slotContract = (make: Make): void => {
  test('prepares twice with one effect, and takes it back', async () => {
    const { driver, io } = make()
    const slots = slotsOf(await driver.discover(io))
    const [one, other = one] = [slots[0]!, slots.at(-1)]
    await driver.prepare(io, other, never)
    const before = io.kept()
    await driver.prepare(io, one, never)
    const once = io.kept()
    await driver.prepare(io, one, never)
    expect(io.kept()).toEqual(once)
    await driver.release(io, one, never)
    if (one !== other) expect(io.kept()).toEqual(before)
    await driver.release(io, one, never)
    if (one !== other) expect(io.kept()).toEqual(before)
  })

  test('releases what was never prepared, and what it never had', async () => {
    const { driver, io } = make()
    const slot = slotsOf(await driver.discover(io))[0]!
    const before = io.kept()
    await driver.release(io, slot, never)
    await driver.release(io, { ...slot, deployable: `${io.hostname}_gone` }, never)
    expect(io.kept()).toEqual(before)
  })

  test('prepares nothing that it does not have', async () => {
    const { driver, io } = make()
    const slot = slotsOf(await driver.discover(io))[0]!
    const elsewhere = { ...slot, info: { ...slot.info, bus: 'fe' } }
    await expect(driver.prepare(io, elsewhere, never)).rejects.toThrow(slot.uuid)
  })

  test('does nothing for a caller that has given up', async () => {
    const { driver, io } = make()
    const slot = slotsOf(await driver.discover(io))[0]!
    const before = io.kept()
    await expect(driver.prepare(io, slot, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
    expect(io.kept()).toEqual(before)
  })
}

export const driverContract = (
  title: string,
  make: Make,
  /** What the host of `make` has on purpose. */
  { image = '/images/design-one.gbs', offers = true }: { readonly image?: string; readonly offers?: boolean } = {},
): void => {
  describe(`${title} keeps the driver contract`, () => {
    test('shows devices, and the same ones twice, byte for byte', async () => {
      const { driver, io } = make()
      const first = JSON.stringify(await driver.discover(io))
      expect(JSON.parse(first)).not.toEqual([])
      expect(JSON.stringify(await driver.discover(io))).toBe(first)
      expect(JSON.stringify(await make().driver.discover(io))).toBe(first)
    })

    test('gives each deployable one resource class and traits Placement will accept', async () => {
      const { driver, io } = make()
      for (const { attributes } of await deployablesOf(driver, io)) {
        const keys = attributes.map(({ key }) => key)
        expect(new Set(keys).size).toBe(keys.length)
        expect(keys.filter((key) => key === 'rc')).toHaveLength(1)
        const names = attributes.filter(({ key }) => key === 'rc' || key.startsWith('trait')).map(({ value }) => value)
        for (const name of names) expect(name).toMatch(/^[A-Z0-9_]{1,255}$/)
      }
    })

    test('names each deployable once, after its host, in at most 200 characters', async () => {
      const { driver, io } = make()
      const names = (await deployablesOf(driver, io)).map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) {
        expect(name.startsWith(`${io.hostname}_`)).toBe(true)
        expect(name.length).toBeLessThanOrEqual(200)
      }
    })

    test('refuses a host name that leaves no room', async () => {
      const { driver, io } = make()
      await expect(driver.discover({ ...io, hostname: 'h'.repeat(200) })).rejects.toThrow(
        /^hostname: .* 200 characters$/,
      )
    })

    test('counts its handles, and no two share their info or control path', async () => {
      const { driver, io } = make()
      const devices = await driver.discover(io)
      const paths = devices.map(({ controlPath }) => canonicalInfo(controlPath.info))
      expect(new Set(paths).size).toBe(paths.length)
      const infos = slotsOf(devices).map(({ info }) => canonicalInfo(info))
      expect(new Set(infos).size).toBe(infos.length)
      // handles with the same number are one accelerator
      for (const { numAccelerators, handles } of await deployablesOf(driver, io))
        expect(new Set(handles.map(({ set }, n) => set ?? `alone ${n}`)).size).toBe(numAccelerators)
      const spelling = /^[0-9a-f]{4,8} [0-9a-f]{2} [0-9a-f]{1,2} [0-7]$/
      for (const { info } of slotsOf(devices))
        expect([info['domain'], info['bus'], info['device'], info['function']].join(' ')).toMatch(spelling)
    })

    if (offers) slotContract(make)

    test('measures its devices, each once, changes nothing by it, and leaves out what it does not have', async () => {
      const { driver, io } = make()
      if (driver.measure === undefined) return
      const paths = (await driver.discover(io)).map(({ controlPath }) => controlPath.info)
      const before = io.kept()
      const gone = JSON.stringify({ bus: 'fe', device: '1f', domain: '0000', function: '7' })
      const { devices } = await driver.measure(io, [...paths, gone, 'no path'], never)
      expect(devices.map(({ controlPath }) => controlPath)).toEqual(paths)
      expect(io.kept()).toEqual(before)
    })

    test('programs what it calls programmable, shows what is loaded, and refuses the rest', async () => {
      const { driver, io } = make()
      for (const { name, programmable } of await deployablesOf(driver, io)) {
        const program = driver.program?.(io, name, image, never)
        if (programmable) await program
        else if (program) await expect(program).rejects.toThrow(`${name} cannot be programmed`)
      }
      for (const { programmable, bitstreamId } of await deployablesOf(driver, io))
        expect(bitstreamId).toBe(programmable ? 'design-one' : undefined)
    })
  })
}
