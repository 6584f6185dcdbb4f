/** Network cards of all vendors, as Neutron needs them: with the physical network that an operator names for them. */
import { describe, expect, test } from 'vitest'
import type { DriverOptions } from '../../src/drivers/index.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { cardsIn, driverOf } from './machines.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { type Facts, pciTree } from './trees.ts'

const nic = (vendor: string, device: string, more: Tree = {}, physfn?: string): Facts => ({
  vendor,
  device,
  class: '020000',
  more,
  ...(physfn === undefined ? {} : { physfn }),
})
const named = (name: string): Tree => ({ net: { [name]: {} } })
const ROUTES = { net: { dev: 'lo:\neth0:\n', route: 'Iface Destination Gateway\n' } }
const hostOf = (functions: Readonly<Record<string, Facts>>) => recordedHostIo({ sys: pciTree(functions), proc: ROUTES })
/** Two cards alike, of which a mapping names the first; and two virtual functions of it. */
const cards = (vendor: string, pf: string, vf: string) =>
  hostOf({
    '0000:3b:00.0': nic(vendor, pf, named('ens3f0np0')),
    '0000:3b:00.2': nic(vendor, vf, {}, '0000:3b:00.0'),
    '0000:3b:00.3': nic(vendor, vf, {}, '0000:3b:00.0'),
    '0000:5e:00.0': nic(vendor, pf, named('ens4f0')),
    '0000:5e:00.2': nic(vendor, vf, {}, '0000:5e:00.0'),
  })
const NETWORK = { networks: ['physnet1:ens3f0np0'], functions: [] }
const handlesOf = (devices: readonly ReportedDevice[]) =>
  devices.flatMap(({ deployables }) =>
    deployables.map(({ handles: [handle], driverName, attributes }) => ({
      at: `${handle!.info['bus']}:${handle!.info['device']}.${handle!.info['function']}`,
      network: handle!.info['physical_network'],
      by: driverName,
      traits: attributes.filter(({ key }) => key.startsWith('trait')).map(({ value }) => value),
    })),
  )

describe('intel_nic_driver', () => {
  test.each([
    ['15b3', '1013', '1014', 'mellanox'],
    ['15b3', '1015', '1016', 'mellanox'],
    ['15b3', '1017', '1018', 'mellanox'],
    ['15b3', '1019', '101a', 'mellanox'],
    ['15b3', '101b', '101c', 'mellanox'],
    ['15b3', '101d', '101e', 'mellanox'],
    ['15b3', '101f', '101e', 'mellanox'],
    ['15b3', '1021', '101e', 'mellanox'],
    ['15b3', '1023', '101e', 'mellanox'],
    ['15b3', 'a2dc', '101e', 'mellanox'],
    ['14e4', '16d7', '16dc', 'broadcom'],
    ['14e4', '1750', '1806', 'broadcom'],
    ['1dd8', '1002', '1003', 'pensando'],
    ['8086', '1583', '154c', 'intel'],
    ['8086', '12d2', '1889', 'intel'],
    ['8086', '57b0', '57ad', 'intel'],
    ['8086', '10fb', '10ed', 'intel', 'unknown'],
    ['1425', '640d', '680d', '1425', 'unknown'],
    ['1924', '0b03', '1b03', '1924', 'unknown'],
  ])(
    'offers the virtual functions of %s:%s (%s) that a mapping names, under the name of their vendor',
    async (vendor, pf, vf, by, known = '') => {
      const [driver, io] = [driverOf('intel_nic_driver', { nic: NETWORK }), cards(vendor, pf, vf)]
      const offered = handlesOf(await driver.discover(io))
      const traits = ['CUSTOM_VF', 'CUSTOM_PHYSNET1']
      expect(offered).toEqual([
        { at: '3b:00.2', network: 'physnet1', by, traits },
        { at: '3b:00.3', network: 'physnet1', by, traits },
      ])
      const left = [
        { address: '0000:3b:00.0', reason: 'its virtual functions are offered instead' },
        { address: '0000:5e:00.0', reason: 'no mapping of nic_devices names an interface of it' },
      ]
      // of a card that no table knows, and no mapping names, nothing is said
      expect(await driver.leftOut!(io)).toEqual(known === 'unknown' ? left.slice(0, 1) : left)
    },
  )
  test('offers a whole card of another vendor only where a mapping names it, and leaves those of the id table to it', async () => {
    const io = hostOf({
      '0000:3b:00.0': nic('15b3', '1017', named('ens3f0np0')),
      '0000:5e:00.0': nic('15b3', '1017', named('ens4f0')),
      '0000:86:00.0': nic('15b3', '1021', named('ens5f0')),
    })
    const mapped = { networks: ['physnet1:ens3f0np0|ens5f0'], functions: [] }
    expect(handlesOf(await driverOf('intel_nic_driver', { nic: mapped }).discover(io)).map(({ at }) => at)).toEqual([
      '3b:00.0',
    ])
    expect(handlesOf(await driverOf('id_table_driver', {}).discover(io)).map(({ at }) => at)).toEqual(['86:00.0'])
  })
  test('offers the cards that it always knew, and those of rows of an operator, without a mapping', async () => {
    const { cards: rows } = cardsIn('- {vendor: 15b3, device: 1017, type: NIC, name: own, driver: intel_nic_driver}')
    const io = hostOf({ '0000:3b:00.0': nic('8086', '158b'), '0000:5e:00.0': nic('15b3', '1017') })
    expect(handlesOf(await driverOf('intel_nic_driver', { cards: rows }).discover(io)).map(({ by }) => by)).toEqual([
      'intel',
      'mellanox',
    ])
  })
})

describe('pci_driver', () => {
  const offered = async (entry: object, nicOptions?: DriverOptions['nic']) => {
    const pci = { whitelist: JSON.stringify({ vendor_id: '15b3', device_type: 'NIC', ...entry }) }
    const options = nicOptions === undefined ? { pci } : { pci, nic: nicOptions }
    return handlesOf(await driverOf('pci_driver', options).discover(cards('15b3', '101d', '101e')))
  }
  test('hands on the physical network that an entry names, to any vendor', async () => {
    const all = await offered({ physical_network: 'physnet-2' })
    expect(all.map(({ at, network }) => [at, network])).toEqual([
      ['3b:00.2', 'physnet-2'],
      ['3b:00.3', 'physnet-2'],
      ['5e:00.2', 'physnet-2'],
    ])
    expect(all[0]!.traits).toContain('CUSTOM_PHYSNET_2')
  })
  test('takes the one of the mapping where the entry names none', async () => {
    expect((await offered({}, NETWORK)).map(({ network }) => network)).toEqual(['physnet1', 'physnet1', undefined])
    expect((await offered({})).map(({ network }) => network)).toEqual([undefined, undefined, undefined])
  })
})
