/**
 * Notices at once when a device is added, removed or divided, by the kernel events that `udevadm monitor` prints.
 * Without that program, a change is noticed with the next report.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Cancel, Clock } from '../../clock.ts'
import { codeOf, messageOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import { backoffMs } from '../../waiting.ts'

export type HotplugParts = {
  readonly log: Log
  readonly clock: Pick<Clock, 'after'>
  /** Called when the hardware may have changed. */
  readonly changed: () => void
  /** The path of `udevadm`; absent: it is found by its name. */
  readonly program?: string
}
const ARGS = ['monitor', '--kernel', '--subsystem-match=pci', '--subsystem-match=mdev']
/** A card causes many events: all within this time after the first one count as one change. */
const SETTLE_MS = 1000
const RETRY = { firstMs: 1000, maxMs: 300_000 }

/** The returned function stops watching, and the program `udevadm`. */
export const watchHotplug = ({ log, clock, changed, program = 'udevadm' }: HotplugParts): Cancel => {
  let stopped = false
  let failures = 0
  let cancelChange: Cancel | null = null
  let cancelRetry: Cancel = () => {}
  let kill: Cancel = () => {}

  const noticed = (): void => {
    if (stopped) return
    cancelChange ??= clock.after(SETTLE_MS, () => {
      cancelChange = null
      changed()
    })
  }
  const begin = (): void => {
    const child = spawn(program, ARGS, { stdio: ['ignore', 'pipe', 'ignore'] })
    kill = () => void child.kill('SIGKILL')
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('KERNEL[')) return
      failures = 0
      noticed()
    })
    let ended = false
    const over = (reason: string, again: boolean): void => {
      if (ended || stopped) return
      ended = true
      if (!again) return log.info({ program, reason }, 'hotplug.unwatched')
      const afterMs = backoffMs(RETRY, ++failures)
      log.warn({ program, reason, afterMs }, 'hotplug.again')
      cancelRetry = clock.after(afterMs, begin)
    }
    child.on('error', (error) => over(messageOf(error), codeOf(error) !== 'ENOENT'))
    child.on('close', (code) => over(`ended with ${code ?? 'a signal'}`, true))
  }
  begin()
  return () => {
    stopped = true
    cancelChange?.()
    cancelRetry()
    kill()
  }
}
