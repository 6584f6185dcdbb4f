/**
 * Notices at once when a device is added, removed or divided, by the kernel events that `udevadm monitor` prints.
 * Without that program, a change is noticed with the next report.
 *
 * HOTPLUG-1 `udevadm` ends with this process however that ends, also by a kill: a shell in its process group reads from
 *    a pipe that only this process holds open, and kills the group when the pipe is closed.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { backoffMs } from '../../vocabulary/waiting.ts'

export type HotplugParts = {
  readonly log: Log
  readonly clock: Pick<Clock, 'after'>
  /** Called when the hardware may have changed. */
  readonly changed: () => void
  /** The path of `udevadm`; absent: it is found by its name. */
  readonly program?: string
}
/** HOTPLUG-1. The program takes the place of the first shell. */
const UNTIL_CLOSED = '(read -r _; kill -9 0) <&3 >/dev/null & exec "$@" 3<&-'
/** The exit status of a shell that does not find a program. */
const NOT_FOUND = 127
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
    const child = spawn('/bin/sh', ['-c', UNTIL_CLOSED, 'sh', program, ...ARGS], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    })
    const [, , , held] = child.stdio
    held?.on('error', () => {})
    kill = () => void held?.destroy()
    createInterface({ input: child.stdout! }).on('line', (line) => {
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
    child.on('exit', (code) => {
      kill()
      if (code === NOT_FOUND) over(`${program} is not installed`, false)
      else over(`ended with ${code ?? 'a signal'}`, true)
    })
  }
  begin()
  return () => {
    stopped = true
    cancelChange?.()
    cancelRetry()
    kill()
  }
}
