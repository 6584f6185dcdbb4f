/**
 * Keeps the state of simulated hardware in its file. Changes are applied one after another, and all changes that wait
 * are written together.
 */
import type { HostIo } from '../driver.ts'
import { type Effects, effectsPath, keepEffects, readEffects } from './effects.ts'
import { oneAtATime, readIfThere } from '../files.ts'

type Step = (effects: Effects) => Effects
type Group = { readonly steps: Step[]; readonly written: Promise<void> }

/** One instance for the driver of each host. */
export const effectsKeeper = (name: string) => {
  const inTurn = oneAtATime()
  const read = async (io: HostIo): Promise<Effects> =>
    readEffects(await readIfThere(io, effectsPath(io.stateDir, name)))
  /** The known content of the file. Null when it is not certain. No other writer exists while this driver lives. */
  let known: Effects | null = null
  let gathering: Group | null = null
  const gather = (io: HostIo): Group => {
    const steps: Step[] = []
    const written = inTurn(async () => {
      gathering = null
      const before = known ?? (await read(io))
      known = null
      const after = steps.reduce((effects, step) => step(effects), before)
      await keepEffects(io, name, before, after)
      known = after
    })
    return (gathering = { steps, written })
  }
  /** Waiting changes are written together. */
  const change = async (io: HostIo, signal: AbortSignal, step: Step): Promise<void> => {
    const { steps, written } = gathering ?? gather(io)
    let stopped = false
    steps.push((effects) => {
      stopped = signal.aborted
      return stopped ? effects : step(effects)
    })
    await written
    if (stopped) throw signal.reason
  }
  return { read, change }
}
