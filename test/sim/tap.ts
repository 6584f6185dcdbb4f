/**
 * Counts each step in which a process acts on the outside (store, bus, driver, Nova), and can inject a fault into one
 * of them.
 */
import type { Life } from './schedule.ts'

export const STEPS = ['journal', 'checkpoint', 'publish', 'deliver', 'driver', 'nova', 'ledger'] as const
export type StepKind = (typeof STEPS)[number]
/**
 * `failed`: the step is not done and rejects; `repeated`: it is done twice; `killed`: it is done, and its process is
 * killed.
 */
export const HARMS = ['failed', 'repeated', 'killed'] as const
export type Harm = (typeof HARMS)[number]
export type Step = { readonly kind: StepKind; readonly by: string }
export type Tap = {
  readonly pass: <Value>(life: Life, kind: StepKind, work: () => Promise<Value>) => Promise<Value>
  /** Starts counting, and injects the fault into the step of that number; null: no fault. */
  readonly open: (
    harm: { readonly at: number; readonly harm: Harm; readonly kill: (name: string) => void } | null,
  ) => void
  /** Returns the counted steps. */
  readonly close: () => readonly Step[]
}

export const openTap = (say: (line: string) => void): Tap => {
  let steps: Step[] | null = null
  let wanted: Parameters<Tap['open']>[0] = null
  const harmed = async <Value>(
    { name }: Life,
    kind: StepKind,
    { harm, kill }: NonNullable<typeof wanted>,
    work: () => Promise<Value>,
  ) => {
    if (harm === 'failed') throw new Error('this step was made to fail')
    const value = await work()
    if (harm === 'repeated') return work()
    kill(name)
    // the broker awaits each delivery, so it must see a rejection
    if (kind === 'deliver') throw new Error(`${name} is gone`)
    // a killed process never gets the result
    return harm === 'killed' ? new Promise<Value>(() => {}) : value
  }
  return {
    open: (harm) => {
      steps = []
      wanted = harm
    },
    close: () => {
      const counted = steps ?? []
      steps = wanted = null
      return counted
    },
    pass: async (life, kind, work) => {
      const at = steps ? steps.push({ kind, by: life.name }) - 1 : -1
      if (at < 0 || wanted?.at !== at) return work()
      say(`step ${at}, ${kind} of ${life.name}, is to be ${wanted.harm}`)
      return harmed(life, kind, wanted, work)
    },
  }
}
