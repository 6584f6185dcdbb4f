/**
 * The measured quantities of devices, and the values from which on a device counts as bad. Measurements describe the
 * present condition of a device; they change neither its identity nor its traits.
 *
 * HEALTH-1 this table alone decides; drivers only measure;
 * HEALTH-2 a quantity that a driver cannot read is left out, and nothing is concluded from its absence;
 * HEALTH-3 a passing quantity tells of a state, not of a defect, and is told by a sensor of the kernel driver, which is
 *    gone while a guest has the device. It makes a device bad only as long as it is told.
 */

/** All quantities that a driver may measure. Counters count since the start of the machine or of the kernel driver. */
export const QUANTITIES = {
  temperature_celsius: 'the temperature of the hottest sensor',
  temperature_margin_celsius:
    'how far the sensor that is nearest to its critical temperature is below it; only where the card names that',
  utilisation_percent: 'how busy its processors were',
  memory_utilisation_percent: 'how busy its memory was',
  power_watts: 'the power it draws',
  off_the_bus: '1: it does not answer on its bus, all of its configuration space reads as ones; 0: it answers',
  pci_fatal_errors:
    'fatal PCI errors (AER), after which the link had to be reset: those that it has counted, and those that the ports above it have counted where no other device is below them',
  pci_shared_fatal_errors:
    'fatal PCI errors (AER) that only a port above it has counted, below which are other devices too',
  pci_nonfatal_errors: 'uncorrected PCI errors (AER) of single transactions',
  pci_correctable_errors: 'PCI errors (AER) that were corrected',
  link_reduced:
    '1: the PCI link is narrower than device and slot can, or slower, which of a GPU counts only while it is busy: idle ones slow their link down; 0: it is not',
  ecc_corrected_errors: 'memory errors that were corrected',
  ecc_uncorrected_errors: 'memory errors that could not be corrected',
  memory_repair_pending: '1: memory was found broken, and is taken out of use with the next reset of the card; 0: none',
  memory_repair_failed: '1: broken memory could not be replaced; 0: it could, or there is none',
  vendor_alarm:
    'what the tool of the vendor says: 0 well, 1 warning, 2 alarm, 3 critical; 3 also where it names the card in an error, says a word of an error in place of a number, or does not list the card any more',
} as const
export type Quantity = keyof typeof QUANTITIES
/** The measured values, by quantity. */
export type Numbers = Readonly<Partial<Record<Quantity, number>>>

/** HEALTH-3 */
export const isPassing = (quantity: string): boolean => quantity === ('temperature_margin_celsius' satisfies Quantity)

/** From the best to the worst. */
export const HEALTHS = ['ok', 'warning', 'bad'] as const
export type Health = (typeof HEALTHS)[number]

type Rule = {
  readonly quantity: Quantity
  /** The rule applies to this value and to all beyond it. */
  readonly from: number
  readonly beyond: 'above' | 'below'
  readonly health: Exclude<Health, 'ok'>
  readonly reason: string
}
const above = (quantity: Quantity, from: number, health: Rule['health'], reason: string): Rule => ({
  quantity,
  from,
  beyond: 'above',
  health,
  reason,
})

/** A bad device is not offered; a warning is only shown. */
export const HEALTH_RULES: readonly Rule[] = [
  above('off_the_bus', 1, 'bad', 'it does not answer on its bus any more'),
  above('pci_fatal_errors', 1, 'bad', 'it has reported fatal PCI errors'),
  above('memory_repair_failed', 1, 'bad', 'broken memory of it could not be replaced'),
  above('memory_repair_pending', 1, 'bad', 'broken memory of it is in use until the card is reset'),
  above('vendor_alarm', 2, 'bad', 'the tool of its vendor reports an alarm'),
  {
    quantity: 'temperature_margin_celsius',
    from: 0,
    beyond: 'below',
    health: 'bad',
    reason: 'it is as hot as its critical temperature, or hotter',
  },
  above('pci_nonfatal_errors', 1, 'warning', 'it has reported uncorrected PCI errors'),
  above(
    'pci_shared_fatal_errors',
    1,
    'warning',
    'a fatal PCI error came from it or from another device below its port',
  ),
  above('ecc_uncorrected_errors', 1, 'warning', 'memory errors could not be corrected'),
  above('vendor_alarm', 1, 'warning', 'the tool of its vendor reports a warning'),
  above('link_reduced', 1, 'warning', 'its PCI link is slower or narrower than it could be'),
]

export type Judged = { readonly health: Health; readonly reasons: readonly string[] }

const applies = ({ quantity, from, beyond }: Rule, numbers: Numbers): boolean => {
  const value = numbers[quantity]
  return value !== undefined && (beyond === 'above' ? value >= from : value <= from)
}
/** Pure: the quantities by which a device with these values is bad, each with the reason. */
export const badBy = (numbers: Numbers): ReadonlyMap<Quantity, string> =>
  new Map(
    HEALTH_RULES.filter((rule) => rule.health === 'bad' && applies(rule, numbers)).map(({ quantity, reason }) => [
      quantity,
      reason,
    ]),
  )
/** Pure: the condition of a device with these values. `reasons`: why it is not `ok`, the worst first. */
export const judgedBy = (numbers: Numbers): Judged => {
  const found = HEALTH_RULES.filter((rule) => applies(rule, numbers))
  const worst = found.some(({ health }) => health === 'bad') ? 'bad' : found.length > 0 ? 'warning' : 'ok'
  return { health: worst, reasons: found.map(({ reason }) => reason) }
}
