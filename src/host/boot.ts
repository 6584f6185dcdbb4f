/**
 * The number of this start of the host program, on the host's own disk.
 *
 * BOOT-1 the number rises with each start, so a control can tell which of any two starts is the later one;
 * BOOT-2 the number is at least the time of the start, so it also rises when the folder is lost, unless the clock was
 *    set back meanwhile.
 */
import * as v from 'valibot'
import type { BootId } from '../vocabulary/identifiers.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { BootNumber } from '../wire/reports.ts'
import type { Disk } from './disk.ts'

/** The start of the host program, as every report names it. */
export type Boot = { readonly bootId: BootId; readonly bootNumber: number }

const BootFile = v.pipe(v.string(), v.parseJson(), v.object({ boot: BootNumber }))

export type BootOptions = { readonly disk: Disk; readonly path: string; readonly clock: Clock; readonly log: Log }

/** The number is on disk when this resolves. A file that cannot be read as a number counts as missing. */
export const nextBoot = async ({ disk, path, clock, log }: BootOptions): Promise<number> => {
  const text = await disk.read(path)
  const last = text === null ? null : v.safeParse(BootFile, text)
  if (last !== null && !last.success) log.warn({ path }, 'host.bootUnreadable')
  const number = Math.max(clock.now(), last?.success ? last.output.boot + 1 : 1)
  await disk.replace(path, `${JSON.stringify({ boot: number })}\n`)
  return number
}
