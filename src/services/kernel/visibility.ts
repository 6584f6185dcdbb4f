/** Who may know of which accelerator requests (rest-api 9.5): an administrator of all, anybody else of those of the own project. */
import type { ArqUuid } from '../../identifiers.ts'
import { type Outcome, done } from '../../fault.ts'
import type { Caller } from '../../actors/control.ts'
import type { Kernel } from './kernel.ts'

/** So many are asked about in one read. */
const ASKED_MAX = 1000

/** True of those that the caller may know of. A request that is gone has no owner that could be asked for: only administrators know it. */
export type Knows = (arq: ArqUuid) => boolean
export type Visibility = (caller: Caller, arqs: readonly ArqUuid[]) => Promise<Outcome<Knows>>

export const createVisibility =
  ({ readers }: Pick<Kernel, 'readers'>): Visibility =>
  async ({ isAdmin, projectId }, arqs) => {
    if (isAdmin) return done(() => true)
    const own = new Set<ArqUuid>()
    for (let at = 0; at < arqs.length; at += ASKED_MAX) {
      const found = await readers.list('arqs', { uuid: arqs.slice(at, at + ASKED_MAX), project_id: projectId }, {})
      if (!found.ok) return found
      for (const { uuid } of found.value.items) own.add(uuid)
    }
    return done((arq) => own.has(arq))
  }
