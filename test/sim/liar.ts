/** A host that is known and has a key of its own, and reports what belongs to another host. */
import type { Evidence, Violation } from '../../src/audit/evidence.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { reportRecord } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import type { InventoryReport, OrderResult } from '../../src/wire/reports.ts'
import { signerOf } from '../support/keys.ts'
import { withMac } from '../support/macs.ts'
import { type Fault, type Stage, later } from './stage.ts'

const LIAR = 'liar'
const BOOT = '00000000-0000-4000-8000-0000000011a6'
/** Stands in all that it shows. */
const MODEL = 'a lie'
const [LAST_LIES, LAST_EVERY_MS] = [12, 8000]
const RULE = 'PROVENANCE-1'
const MEANING = 'what a host reports of another one changes nothing there, and its refusal is recorded'
const { hostOrders, hostReports } = CATALOGUE

/** What it has read on the topics of the host that it lies about. */
type Heard = { readonly id: string; readonly report: InventoryReport; readonly order: Order | null }

type Section = InventoryReport['drivers'][number]
const partsOf = (section: Section) =>
  section.status === 'ok' ? section.devices.flatMap(({ deployables }) => deployables) : []

const heardOf = ({ network, random, machines }: Stage): Heard | null => {
  const { name } = random.pick(machines)
  const { stored } = network()
  const reports = stored.filter(({ topic, body }) => {
    const report = body as { readonly host: string; readonly type: string } | null
    return topic === hostReports.topic && report?.host === name && report.type === 'Inventory'
  })
  // of a host whose drivers fail there is nothing to lie about
  const last = reports.findLast(({ body }) => (body as InventoryReport).drivers.flatMap(partsOf).length > 0)
  if (!last) return null
  const orders = stored.flatMap(({ topic, body }) => (topic === hostOrders.topic && body ? [body as Order] : []))
  const order = orders.findLast(({ host, type }) => host === name && type === 'PrepareSlot') ?? null
  return { id: last.id!, report: last.body as InventoryReport, order }
}

/** A deployable of that host, known or new, as the only one of a card. */
const inventoryOf = (shown: InventoryReport, name: string): InventoryReport['drivers'] => [
  {
    driver: 'lying',
    status: 'ok',
    devices: [
      {
        type: 'FPGA',
        vendor: '10ee',
        model: MODEL,
        stdBoardInfo: null,
        vendorBoardInfo: null,
        controlPath: { type: 'PCI', info: '{"domain":"0000","bus":"fe","device":"00","function":"0"}' },
        deployables: shown.drivers
          .flatMap(partsOf)
          .slice(0, 1)
          .map((one) => ({ ...one, name })),
      },
    ],
  },
]

/** In its own name, or in that of the other one. */
const lieOf = ({ random, now, schedule }: Stage, { id, report, order }: Heard): BusRecord => {
  const [known] = report.drivers.flatMap(partsOf)
  const name = known && random.chance(0.5) ? known.name : `${report.host}_more`
  const as = random.chance(0.6) ? { host: LIAR, bootId: BOOT } : { host: report.host, bootId: report.bootId }
  const messageId = random.chance(0.5) ? id : `lie ${schedule.elapsed()}`
  if (order === null || random.chance(0.6)) {
    const number = report.number + Math.ceil(schedule.elapsed())
    const drivers = inventoryOf(report, name)
    return reportRecord({ ...report, ...as, number, observedAt: now(), drivers }, messageId, now())
  }
  const result: OrderResult = {
    ...{ type: 'OrderResult', ...as, order: order.type, slot: order.slot, number: order.number },
    deployableUuid: order.deployableUuid,
    ...('arq' in order ? { arq: order.arq } : {}),
    ...{ startedAt: now(), finishedAt: now(), result: { status: 'failed', reason: MODEL, final: true } },
  }
  return reportRecord(result, messageId, now())
}
const lieOnce = (stage: Stage): void => {
  const heard = heardOf(stage)
  if (!heard) return
  const [{ random, network }, lie, key] = [stage, lieOf(stage, heard), `host ${LIAR}`]
  network().poison(random.chance(0.5) ? signerOf(key).signed(lie) : withMac(lie, key, 'cloud'))
}

/** Reports cards, functions and failures of other hosts, with ids of their messages and of their starts. */
export const lies: Fault = (stage) => {
  const { random, say } = stage
  const lieMore = (count: number, withinMs: number): void => {
    for (let left = count; left > 0; left--) later(stage, random.below(withinMs), () => lieOnce(stage))
  }
  stage.haveLied = true
  say(`fault: host ${LIAR} reports what belongs to others`)
  lieMore(random.between(5, 30), 20_000)
}
/** Some more, when nothing else disturbs: these are refused before the end. */
export const liesMore = (stage: Stage): void => {
  for (let at = 1; at <= LAST_LIES; at++) later(stage, at * LAST_EVERY_MS, () => lieOnce(stage))
}

/** What a control believed, and whether it recorded that it refused. Not judged if the database has lost rows. */
export const believed = ({ journal, lost = [] }: Evidence): readonly Violation[] => {
  const violation = (found: string): Violation => ({ invariant: RULE, meaning: MEANING, found, proof: [] })
  // its own key is given to it under the name of the key
  const isOwn = ({ key, events }: (typeof journal)[number]): boolean =>
    key.endsWith(`/${LIAR}`) || events.every((one) => one.type === 'KeyGiven' && 'host' in one && one.host === LIAR)
  const others = journal.filter((row) => !isOwn(row))
  const isLie = ({ cause, events }: (typeof journal)[number]): boolean =>
    cause.by === `host ${LIAR}` || JSON.stringify(events).includes(`"${MODEL}"`)
  const isRefused = journal.some(
    ({ key, events }) =>
      key === `host/${LIAR}` &&
      events.some((one) => one.type === 'ReportRefused' && 'reason' in one && one.reason === 'foreign_name'),
  )
  return [
    ...others.filter(isLie).map(({ key, events }) => violation(`${key}: ${events.map(({ type }) => type).join(' ')}`)),
    ...(isRefused || lost.length > 0 ? [] : [violation(`no refusal of a name is recorded of host ${LIAR}`)]),
  ]
}
