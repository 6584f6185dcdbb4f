/**
 * Replaces one method of kafkajs 2.2.4, which after its first answer sets a timer of 1 ms again and again as long as a
 * connection is open: thousands of wake-ups per second, and a warning on Node 24. Other versions are not changed.
 */
import { createRequire } from 'node:module'

type Queue = {
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  throttleCheckTimeoutId: unknown
  readonly checkPendingRequests: () => void
}

const FOR_VERSION = '2.2.4'
const LOOK_MS = 10
const load = createRequire(import.meta.url)

function schedule(this: Queue): void {
  const wait = this.throttledUntil - Date.now()
  if (this.throttleCheckTimeoutId !== null || (this.pending.length === 0 && wait <= 0)) return
  const again = (): void => {
    this.throttleCheckTimeoutId = null
    this.checkPendingRequests()
  }
  this.throttleCheckTimeoutId = setTimeout(again, wait > 0 ? wait : LOOK_MS)
}

/** True: the installed kafkajs is the affected version, and the method is replaced. */
export const mendTimer = (): boolean => {
  const { version } = load('kafkajs/package.json') as { readonly version: string }
  if (version !== FOR_VERSION) return false
  const queue = load('kafkajs/src/network/requestQueue') as { readonly prototype: Record<string, unknown> }
  queue.prototype['scheduleCheckPendingRequests'] = schedule
  return true
}
