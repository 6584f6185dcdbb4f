/** How evidence of a whole simulated life is spoilt where it tells of images. */
import type { Evidence } from '../../src/audit/evidence.ts'
import { remember } from '../../src/actors/entities.ts'
import { placed } from './placementForgeries.ts'

type Forge = (evidence: Evidence) => Partial<Evidence>
type Events = readonly { readonly type: string }[]
const has =
  (type: string) =>
  ({ key, events }: Evidence['journal'][number]): boolean =>
    key.startsWith('deployable/') && (events as Events).some((event) => event.type === type)

/** The row in which the first programming ended, without what began it. */
const neverBegun: Forge = ({ journal }) => {
  const ended = journal.find(has('Programmed'))!
  const drop = journal.findLastIndex(
    (row) => row.key === ended.key && row.version < ended.version && has('ProgramStarted')(row),
  )
  const row = journal[drop]!
  const events = (row.events as Events).filter(({ type }) => type !== 'ProgramStarted')
  return { journal: journal.with(drop, { ...row, events }) }
}
/** The first programming begins twice. */
const begunTwice: Forge = ({ journal }) => {
  const at = journal.findIndex(has('ProgramStarted'))
  const row = journal[at]!
  const started = (
    row.events as readonly { readonly type: string; readonly order: { readonly number: number } }[]
  ).find(({ type }) => type === 'ProgramStarted')!
  const again = { ...started, order: { ...started.order, number: started.order.number + 1 } }
  return { journal: journal.with(at, { ...row, events: [...row.events, again] }) }
}
type Arq = {
  readonly bond: { readonly handle: { readonly uuid: string }; readonly order: number | null } | null
  readonly group: Readonly<Record<string, string>>
}
/** Requests that ask for an image, and were bound by an order. */
export const lookedFor = ({ journal }: Evidence): ReadonlySet<string> =>
  new Set(
    [...Map.groupBy(journal, ({ key }) => key)].flatMap(([key, rows]) => {
      const bound = rows.findIndex(({ events }) => (events as Events).some(({ type }) => type === 'Bound'))
      if (bound < 0 || !key.startsWith('arq/')) return []
      const { bond, group } = remember(key, rows.slice(0, bound + 1)).state as Arq
      return bond?.order && group['accel:bitstream_id'] ? [`${bond.handle.uuid} ${bond.order}`] : []
    }),
  )
const preparedOnAnother: Forge = (evidence) => {
  const wanted = lookedFor(evidence)
  return {
    hosts: (evidence.hosts ?? []).map((trace) => ({
      ...trace,
      steps: trace.steps.map((step) =>
        step.did === 'prepare' && wanted.has(`${step.slot} ${step.number}`) ? { ...step, holds: 'another' } : step,
      ),
    })),
  }
}
const reserving = (more: number): Forge =>
  placed({
    providers: (all) =>
      all.map((provider) => ({
        ...provider,
        inventories: Object.fromEntries(
          Object.entries(provider.inventories).map(([name, one]) => {
            const inventory = one as { readonly total: number }
            return [name, { ...inventory, reserved: inventory.total + more }]
          }),
        ),
      })),
  })

export const PROGRAM_FORGERIES: readonly (readonly [string, string, Forge])[] = [
  ['S14 jobs', 'a programming ends that was not begun', neverBegun],
  ['S14 jobs', 'a card is programmed twice at once', begunTwice],
  ['I13', 'an image is recorded that nobody has loaded or read', neverBegun],
  ['S14 bound', 'a card held another image when its slot was prepared', preparedOnAnother],
  ['I16', 'more is reserved than requests leave', reserving(0)],
  ['S2 placement', 'what is left does not cover what is allocated', reserving(1)],
]
