/**
 * Hardware that is given to the program: a cloud of a chosen size, a recorded sysfs, and this machine's own PCI bus.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { type Part, describeWith } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { attributesOf, clientOf } from './client.ts'

const HOST = 'this-machine'
const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
beforeAll(embeddedStoreMade)
const folder = tempFolder('hardware')
const services: Service[] = []
const started = async (
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Service> => {
  await embeddedStoreIn(join(folder.path, name, 'store'))
  const all = ['start', ...args, '--data', join(folder.path, name), ...listen]
  const service = await startService({ args: all, env: { ACCELERANDO_HOST_NAME: HOST, ...env } })
  services.push(service)
  return service
}
afterAll(async () => {
  for (const service of services) await service.end('SIGKILL')
  folder.remove()
})

const infoOf = (address: string) => {
  const [domain, bus, device, fn] = address.split(/[:.]/)
  return { domain, bus, device, function: fn }
}

/** From the whitelist to a guest: device, deployable, and a bind with the true address. */
const isOffered = async (service: Service, address: string, vendor: string): Promise<void> => {
  const client = clientOf(service.base)
  const devices = (await client.devices()).filter(({ hostname }) => hostname === HOST)
  expect(devices).toMatchObject([{ vendor }])
  const places = (await client.deployables()).filter(({ name }) => name.startsWith(`${HOST}_`))
  expect(places).toMatchObject([{ num_accelerators: 1 }])
  expect(attributesOf(places[0]!)['rc']).toBe('CUSTOM_PCI')
  const arq = await client.bind(places[0]!, HOST)
  expect(arq).toMatchObject({ state: 'Bound', hostname: HOST, attach_handle_type: 'PCI' })
  expect(arq.attach_handle_info).toMatchObject(infoOf(address))
}

describe('a sized demo beside a recorded sysfs', () => {
  /** The one function of the recording with this vendor and product. */
  const [VENDOR, PRODUCT, ADDRESS] = ['1af4', '1044', '0000:00:13.0']
  let service: Service

  beforeAll(async () => {
    const root = join(folder.path, 'sys')
    unpackRecording('mixed-host', root)
    service = await started('sized', ['--demo', '--demo-hosts', '2', '--demo-devices', '3', '--demo-handles', '4'], {
      ACCELERANDO_PCI_SYSFS_ROOT: root,
      ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: JSON.stringify({ vendor_id: VENDOR, product_id: PRODUCT }),
    })
  }, 90_000)

  test('has so many hosts with so many FPGAs of so many handles, instead of the mixed cloud', async () => {
    const client = clientOf(service.base)
    const simulated = (await client.hosts()).map(({ name }) => name).filter((name) => name !== HOST)
    expect(simulated).toHaveLength(2)
    for (const host of simulated) {
      const places = (await client.deployables()).filter(({ name }) => name.startsWith(`${host}_`))
      expect(places.map(({ num_accelerators: handles }) => handles)).toEqual([4, 4, 4])
      expect(new Set(places.map((place) => attributesOf(place)['rc']))).toEqual(new Set(['FPGA']))
    }
    expect((await client.devices()).filter(({ hostname }) => hostname !== HOST)).toHaveLength(6)
  })
  test('offers the whitelisted function of the recording, and binds it with its address', () =>
    isOffered(service, ADDRESS, VENDOR))
})

const BUS = '/sys/bus/pci/devices'
const read = (address: string, file: string) =>
  readFileSync(join(BUS, address, file), 'utf8')
    .trim()
    .slice(2)
/** A function whose ids no other one has, so that the whitelist names exactly it. */
const soleFunction = () => {
  const found = existsSync(BUS)
    ? readdirSync(BUS).map((address) => ({ address, ids: [read(address, 'vendor'), read(address, 'device')] }))
    : []
  return found.findLast(({ ids }) => found.filter((other) => other.ids.join() === ids.join()).length === 1)
}
const pciBus: Part = {
  name: 'a PCI bus',
  installable: false,
  find: () => (soleFunction() ? { at: BUS } : { lacking: `no function of its own kind in ${BUS}` }),
}

describeWith(pciBus, "this machine's own bus", () => {
  test('a whitelisted function becomes a device and is bound with its true address', { timeout: 90_000 }, async () => {
    const { address, ids } = soleFunction()!
    const [vendor, product] = ids as [string, string]
    const service = await started('real', [], {
      ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: JSON.stringify([{ vendor_id: vendor, product_id: product }]),
    })
    await isOffered(service, address, vendor)
  })
})
