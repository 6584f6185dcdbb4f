/** What a host program notes on its disk, and what its drivers do to the hardware: the evidence of a machine. */
import type { HostStep } from '../../src/audit/evidence.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import type { Effects } from '../../src/drivers/simulated/effects.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import { type Entry, handleKey } from '../../src/host/entry.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readReport } from '../../src/wire/message.ts'

type Attribution = {
  /** Whether the order is for another slot and covers this one too. */
  readonly covers?: (entry: Entry) => boolean
  /** The other slots of the deployable that the hardware holds prepared. */
  readonly besides?: (slot: string) => readonly string[]
  /** The image that the card holds; null: none. */
  readonly holds?: string | null
}

/** Records what the ledger on disk says about each slot, and what was done on the hardware. */
export const openTrace = () => {
  /** Of these no order was ever given. */
  const strangers = new Set<string>()
  const steps: HostStep[] = []
  const noted = new Map<string, Entry>()
  const told = new Set<string>()
  const written = (text: string, whole: boolean): void => {
    if (whole) noted.clear()
    // the header of a new file is not an entry, and an incomplete line is ignored
    const lines = text.split('\n').slice(whole ? 1 : 0, -1)
    for (const entry of lines.map((line) => JSON.parse(line) as Entry)) {
      const key = `${entry.slot} ${entry.number} ${entry.state}`
      if (!told.has(key) && !strangers.has(entry.slot))
        steps.push({ did: 'noted', slot: entry.slot, number: entry.number, done: entry.state === 'done' })
      told.add(key)
      noted.set(entry.slot, entry)
    }
  }
  const sent = (batch: readonly BusRecord[]): void => {
    for (const record of batch) {
      const message = readReport(record)
      if (!message.ok || message.value.body.type !== 'OrderResult') continue
      steps.push({ did: 'reported', slot: message.value.body.slot, number: message.value.body.number })
    }
  }
  /** In this start. */
  const wasDone = (step: string, { slot, number }: Entry): boolean =>
    steps
      .slice(steps.findLastIndex(({ did }) => did === 'started'))
      .some((one) => one.did === step && 'slot' in one && one.slot === slot && one.number === number)
  /**
   * By which order: 0 when the ledger on disk knows of none that asks for it. A release also covers other slots of the
   * same hardware, whose orders have numbers of their own.
   */
  const did = (
    step: 'prepare' | 'release' | 'program',
    of: string,
    fits: (entry: Entry) => boolean,
    { covers = () => false, besides = () => [], holds }: Attribution = {},
  ): void => {
    const inHand = [...noted.values()].filter(({ state }) => state === 'in-hand')
    // of two that fit, the one for which it was not done yet
    const own = inHand.find((entry) => fits(entry) && !wasDone(step, entry)) ?? inHand.find(fits)
    const covering = own ?? inHand.find(covers)
    const slot = own?.slot ?? (covering ? `${of} with ${covering.slot}` : of)
    // a slot that is being prepared with the same image belongs to the same bind, and no guest has it yet (FENCE-5)
    const isMate = (one: Entry | undefined) =>
      covering?.image !== undefined &&
      one?.state === 'in-hand' &&
      one.type === 'PrepareSlot' &&
      one.image === covering.image
    const others = besides(slot).filter((other) => !isMate(noted.get(other)))
    const seen = holds === undefined ? {} : { holds }
    steps.push({
      did: step,
      slot,
      number: covering?.number ?? 0,
      ...(others.length > 0 && { beside: others }),
      ...seen,
    })
  }
  return { steps, strangers, written, sent, did, forget: () => noted.clear() }
}

export type Step = <Value>(work: () => Promise<Value>) => Promise<Value>
type Watch = {
  readonly trace: ReturnType<typeof openTrace>
  /** What the hardware holds now. */
  readonly effects: () => Effects
  readonly step: Step
  readonly inside: Inside
  /** What the tool says is not listened to. */
  readonly isUnverified: boolean
}
type Placed = Pick<Entry, 'deployable' | 'handle'>
/** The place of an entry as the driver knows it. */
export type Inside = (entry: Placed) => Placed
export const slotsWatched = <One extends Driver>(
  driver: One,
  {
    trace: { did },
    step,
    effects,
    inside = (entry) => entry,
  }: Pick<Watch, 'trace' | 'step'> & Partial<Pick<Watch, 'effects' | 'inside'>>,
): One => ({
  ...driver,
  prepare: (io, slot, signal) => {
    const seen = effects ? { holds: effects().loaded[slot.deployable] ?? null } : {}
    did('prepare', slot.uuid, (entry) => entry.slot === slot.uuid && entry.type === 'PrepareSlot', seen)
    return step(() => driver.prepare(io, slot, signal))
  },
  release: (io, slot, signal) => {
    did('release', slot.uuid, (entry) => entry.slot === slot.uuid && entry.type === 'ReleaseSlot', {
      covers: (entry) => {
        const { deployable, handle } = inside(entry)
        return deployable === slot.deployable && handle === handleKey(slot) && entry.type === 'ReleaseSlot'
      },
    })
    return step(() => driver.release(io, slot, signal))
  },
})
export const watched = (driver: SimulatedDriver, watch: Watch): SimulatedDriver => ({
  ...slotsWatched(driver, watch),
  program: (io, deployable, image, signal, functionId) => {
    const { trace, effects, step, isUnverified, inside } = watch
    trace.did(
      'program',
      deployable,
      (entry) => inside(entry).deployable === deployable && (entry.type === 'Program' || entry.type === 'PrepareSlot'),
      {
        besides: (own) =>
          Object.entries(effects().prepared).flatMap(([slot, held]) =>
            held.deployable === deployable && slot !== own ? [slot] : [],
          ),
      },
    )
    const done = step(() => driver.program(io, deployable, image, signal, functionId))
    return isUnverified ? done.catch(() => {}) : done
  },
})
