/** Where the work of a process leaves it: each such step is counted, and one of them can be harmed. */
import type { Life } from './schedule.ts'

export const STEPS = ['journal', 'checkpoint', 'publish', 'deliver', 'driver', 'nova', 'ledger'] as const
export type StepKind = (typeof STEPS)[number]
/** `failed`: it is not done, and its caller is told; `repeated`: it is done twice; `killed`: it is done, and its process dies. */
export const HARMS = ['failed', 'repeated', 'killed'] as const
export type Harm = (typeof HARMS)[number]
export type Step = { readonly kind: StepKind; readonly by: string }
export type Tap = {
  readonly pass: <Value>(life: Life, kind: StepKind, work: () => Promise<Value>) => Promise<Value>
  /** Counts from now on, and harms the step of that number; null: none. */
  readonly open: (
    harm: { readonly at: number; readonly harm: Harm; readonly kill: (name: string) => void } | null,
  ) => void
  /** What was counted. */
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
    // the broker waits for what it handed over
    if (kind === 'deliver') throw new Error(`${name} is gone`)
    // to what is dead nothing comes back
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
