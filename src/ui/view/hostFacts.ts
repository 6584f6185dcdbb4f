/** What the page of a host shows of its last report, its unanswered orders, and what its devices measure. */
import type { Device, HostDetail } from '../shapes.ts'
import { none, when } from './parts.ts'
import type { Column } from './rows.ts'
import type { Child } from './tags.ts'
import { count, many } from './words.ts'

/** A host numbers its reports anew with each start of its program. */
export const reportNumber = (number: number): string => `number ${count(number)} since its program started`
export const reportOf = (report: HostDetail['last_report'], now: number): Child =>
  report === null ? none() : [`${reportNumber(report.number)}, `, when(report.at, now)]

export const ordersOf = (orders: HostDetail['orders'], now: number): Child =>
  orders === null || orders.waiting === 0
    ? none()
    : [`${many(orders.waiting, 'order')}, the oldest given `, when(orders.waiting_since, now)]

const QUANTITIES = [
  { title: 'Utilisation', name: 'utilisation_percent', unit: '%' },
  { title: 'Temperature', name: 'temperature_celsius', unit: '°C' },
] as const

/** A column for each quantity that was measured of any of them. */
export const measuredColumns = (measured: HostDetail['measured']): readonly Column<Device>[] => {
  const numbers = new Map(measured.map((one) => [one.device_uuid, one.numbers]))
  return QUANTITIES.filter(({ name }) => measured.some((one) => one.numbers[name] !== undefined)).map(
    ({ title, name, unit }) => ({
      title,
      kind: 'number',
      cell: ({ uuid }) => {
        const value = numbers.get(uuid)?.[name]
        return value === undefined ? none() : `${value}\u00A0${unit}`
      },
    }),
  )
}
