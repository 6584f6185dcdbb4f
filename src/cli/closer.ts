/** Last opened, first closed; one that fails to close does not keep the others open. */
import type { Log } from '../log.ts'

export type Closer = { readonly add: (close: () => unknown) => void; readonly close: () => Promise<void> }

export const closer = (log: Log): Closer => {
  const closing: (() => unknown)[] = []
  return {
    add: (close) => void closing.unshift(close),
    close: async () => {
      for (const close of closing.splice(0))
        try {
          await close()
        } catch (error) {
          log.error({ error: String(error) }, 'stop')
        }
    },
  }
}
