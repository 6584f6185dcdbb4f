/** HEALTH: the table that says from which values on a device counts as bad, and the words for it. */
import { expect, test } from 'vitest'
import { HEALTHS, QUANTITIES, type Quantity, badBy, isPassing, judgedBy } from '../../src/vocabulary/health.ts'

const FATAL = 'it has reported fatal PCI errors'
const SILENT = 'it does not answer on its bus any more'
const SHARED = 'a fatal PCI error came from it or from another device below its port'
const UNREPLACED = 'broken memory of it could not be replaced'
const IN_USE = 'broken memory of it is in use until the card is reset'
const ALARM = 'the tool of its vendor reports an alarm'
const HOT = 'it is as hot as its critical temperature, or hotter'
const UNCORRECTED = 'it has reported uncorrected PCI errors'
const MEMORY = 'memory errors could not be corrected'
const ADVICE = 'the tool of its vendor reports a warning'
const LINK = 'its PCI link is slower or narrower than it could be'

/** For each quantity a value just before its limit, the limit, a value beyond, and the words from the limit on. */
test.each<[Quantity, before: number, from: number, beyond: number, bad: readonly string[], warned: readonly string[]]>([
  ['off_the_bus', 0, 1, 2, [SILENT], []],
  ['pci_fatal_errors', 0, 1, 2, [FATAL], []],
  ['pci_shared_fatal_errors', 0, 1, 2, [], [SHARED]],
  ['memory_repair_failed', 0, 1, 2, [UNREPLACED], []],
  ['memory_repair_pending', 0, 1, 2, [IN_USE], []],
  ['vendor_alarm', 0, 1, 1, [], [ADVICE]],
  ['vendor_alarm', -1, 2, 3, [ALARM], [ADVICE]],
  ['temperature_margin_celsius', 1, 0, -1, [HOT], []],
  ['pci_nonfatal_errors', 0, 1, 2, [], [UNCORRECTED]],
  ['ecc_uncorrected_errors', 0, 1, 2, [], [MEMORY]],
  ['link_reduced', 0, 1, 2, [], [LINK]],
])('HEALTH-1 %s of %i is well, and of %i and %i is not', (quantity, before, from, beyond, bad, warned) => {
  expect(judgedBy({ [quantity]: before })).toEqual({ health: 'ok', reasons: [] })
  expect([...badBy({ [quantity]: before })]).toEqual([])
  for (const value of [from, beyond]) {
    const health = bad.length > 0 ? 'bad' : 'warning'
    expect(judgedBy({ [quantity]: value })).toEqual({ health, reasons: [...bad, ...warned] })
    expect([...badBy({ [quantity]: value })]).toEqual(bad.map((reason) => [quantity, reason]))
  }
})
test('HEALTH-1 nothing is concluded from the other quantities, however large they are', () => {
  const judged = new Set([
    'off_the_bus',
    'pci_fatal_errors',
    'pci_shared_fatal_errors',
    'memory_repair_failed',
    'memory_repair_pending',
    'vendor_alarm',
    'temperature_margin_celsius',
    'pci_nonfatal_errors',
    'ecc_uncorrected_errors',
    'link_reduced',
  ])
  const others = Object.keys(QUANTITIES).filter((name) => !judged.has(name))
  expect(others).toEqual([
    'temperature_celsius',
    'utilisation_percent',
    'memory_utilisation_percent',
    'power_watts',
    'pci_correctable_errors',
    'ecc_corrected_errors',
  ])
  for (const large of [1e9, -1e9])
    expect(judgedBy(Object.fromEntries(others.map((name) => [name, large])))).toEqual({ health: 'ok', reasons: [] })
})
test('HEALTH-2 without any value nothing is concluded', () => {
  expect([judgedBy({}), [...badBy({})]]).toEqual([{ health: 'ok', reasons: [] }, []])
})
test('several quantities are named in the order of the table, each that is bad with its reason', () => {
  const numbers = { link_reduced: 1, temperature_margin_celsius: -3, vendor_alarm: 2, memory_repair_failed: 1 }
  expect(judgedBy(numbers)).toEqual({ health: 'bad', reasons: [UNREPLACED, ALARM, HOT, ADVICE, LINK] })
  expect([...badBy(numbers)]).toEqual([
    ['memory_repair_failed', UNREPLACED],
    ['vendor_alarm', ALARM],
    ['temperature_margin_celsius', HOT],
  ])
  expect(judgedBy({ link_reduced: 1, ecc_uncorrected_errors: 4 })).toEqual({
    health: 'warning',
    reasons: [MEMORY, LINK],
  })
})
test('HEALTH-3 only the margin to the critical temperature passes by itself', () => {
  expect(Object.keys(QUANTITIES).filter(isPassing)).toEqual(['temperature_margin_celsius'])
})
test('conditions are ordered from the best to the worst', () => expect(HEALTHS).toEqual(['ok', 'warning', 'bad']))
