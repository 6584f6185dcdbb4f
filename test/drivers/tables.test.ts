/**
 * The tables of the drivers, whole: each known card, each class of the PCI bus, and how each kind of card is offered.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { driversPage } from '../../infra/driversPage.ts'
import { CARD_KINDS, NVIDIA_KIND } from '../../src/drivers/cards/cardKinds.ts'
import { KNOWN_CARDS, lookupIn } from '../../src/drivers/cards/knownCards.ts'
import { scannedDevices } from '../../src/drivers/pci/scan.ts'
import type { PciFunction } from '../../src/drivers/pci/sysfs.ts'

const functionOf = (vendor: string, product: string, pciClass: string): PciFunction => ({
  address: { domain: '0000', bus: 'af', device: '00', function: '0' },
  vendor,
  product,
  class: pciClass,
  physfn: null,
  totalVfs: 0,
  driver: null,
  driverOverride: null,
  isForGuests: false,
  group: null,
})

test('the page that is printed from them is the one that is committed', () => {
  const committed = readFileSync(new URL('../../docs/drivers.md', import.meta.url), 'utf8')
  expect(driversPage()).toBe(committed)
})

test('each class of the PCI bus has a name', () => {
  const seen = Array.from({ length: 256 }, (_, at) => ({
    found: functionOf('8086', '1234', `${at.toString(16).padStart(2, '0')}0000`),
    entry: null,
    leftOut: null,
  }))
  const named = scannedDevices(seen, { driverEnabled: true, whitelistSet: true })
    .filter((one) => one.class_name !== 'other')
    .map((one) => `${one.class.slice(0, 2)} ${one.class_name}`)
  expect(named.join('\n')).toMatchInlineSnapshot(`
    "00 unclassified
    01 storage
    02 network
    03 display
    04 multimedia
    05 memory
    06 bridge
    07 communication
    08 system
    09 input
    0a docking station
    0b processor
    0c serial bus
    0d wireless
    0e intelligent I/O
    0f satellite
    10 encryption
    11 signal processing
    12 accelerator
    13 instrumentation
    40 coprocessor
    ff unassigned"
  `)
})

test('each known card, and how each kind offers it', async () => {
  const cards = KNOWN_CARDS.map((one) => JSON.stringify(one))
  const known = lookupIn()
  const found = [
    ...['0300', '0302', '0380', '1200'].map((start) => functionOf('10de', '20f1', `${start}00`)),
    functionOf('10de', 'ffff', '030200'),
    functionOf('1bd4', 'a115', '120000'),
    functionOf('1bd4', 'a115', '0b4000'),
    functionOf('1bd4', '1001', '010802'),
    functionOf('144d', 'a80a', '010802'),
    functionOf('abcd', '1001', '010802'),
    functionOf('abcd', '1001', '010600'),
    functionOf('19e5', 'd100', '120000'),
    functionOf('19e5', 'd801', '120000'),
    functionOf('8086', '15b3', '020000'),
    // one card of each vendor, type and driver of the table
    ...KNOWN_CARDS.filter(
      (one, at) =>
        KNOWN_CARDS.findIndex(
          ({ vendor, type, driver, resourceClass }) =>
            vendor === one.vendor && type === one.type && driver === one.driver && resourceClass === one.resourceClass,
        ) === at,
    ).flatMap(({ vendor, product, lastProduct, pciClass }) => [
      functionOf(vendor, product, `${pciClass}000000`.slice(0, 6)),
      functionOf(vendor, lastProduct, '0b4000'),
    ]),
  ]
  const offers = found.map((one) => {
    const by = [NVIDIA_KIND, ...CARD_KINDS].flatMap(({ driver, offer }) => {
      const offered = offer(one, known(one))
      return offered === null ? [] : [`\n  ${driver}: ${JSON.stringify(offered)}`]
    })
    return `${one.vendor}:${one.product} of class ${one.class}${by.join('')}`
  })
  await expect([...cards, ...offers, ''].join('\n')).toMatchFileSnapshot('tables.txt')
})

test('a range has both its ends, and a row of an operator counts from the beginning of its class', () => {
  const known = lookupIn([
    { ...KNOWN_CARDS[0]!, vendor: 'abcd', product: '1000', lastProduct: '100f', name: 'range' },
    {
      ...KNOWN_CARDS[0]!,
      vendor: 'abcd',
      product: '2000',
      lastProduct: '2000',
      driver: 'id_table_driver',
      pciClass: '12',
    },
  ])
  const named = ['0fff', '1000', '1008', '100f', '1010'].map((product) => known({ vendor: 'abcd', product })?.name)
  expect(named).toEqual([undefined, 'range', 'range', 'range', undefined])
  const table = CARD_KINDS.find(({ driver }) => driver === 'id_table_driver')!
  const offered = ['120000', '000012', '011200'].map((pciClass) => {
    const found = functionOf('abcd', '2000', pciClass)
    return table.offer(found, known(found)) !== null
  })
  expect(offered).toEqual([true, false, false])
})
