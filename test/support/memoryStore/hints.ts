/** Hints between the processes of a simulation. */
import { type Hints, createListeners } from '../../../src/actors/runtime/hints.ts'

/** Each call returns the hints of one process. */
export const memoryHints = (): (() => Hints) => {
  const processes = new Set<(name: string) => void>()
  return () => {
    const { tell, onHint } = createListeners()
    processes.add(tell)
    return {
      onHint,
      send: (name) => {
        for (const other of processes) if (other !== tell) void Promise.resolve(name).then(other)
      },
      arrive: () => true,
    }
  }
}
