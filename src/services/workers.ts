/** The workers that do what is due, one row each: every worker gets a lane of its own (`due/lanes.ts`). */
import { type Worker, deadlineWorker } from './due/lanes.ts'
import type { Kernel } from './kernel/kernel.ts'
import { createNotifier } from './nova/notifier.ts'
import { createPlacer } from './placement/placer.ts'

/** Null: what the worker needs is not configured. */
type Maker = (kernel: Kernel) => Worker | null

const WORKERS = {
  deadlines: deadlineWorker,
  nova: createNotifier,
  placement: (kernel: Kernel) => kernel.placement && createPlacer(kernel, kernel.placement),
} as const satisfies Readonly<Record<string, Maker>>

export type Workers = { readonly [Name in keyof typeof WORKERS]: ReturnType<(typeof WORKERS)[Name]> }

export const createWorkers = (kernel: Kernel): Workers =>
  Object.fromEntries(Object.entries(WORKERS).map(([name, create]) => [name, create(kernel)])) as Workers

/** The workers of this configuration. */
export const presentIn = (workers: Workers): readonly Worker[] =>
  Object.values<Worker | null>(workers).filter((worker) => worker !== null)
