/** Who may know of which ARQs (rest-api 9.5): an administrator of all, other users of those of their own project. */
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { Caller } from '../../actors/control.ts'
import type { Kernel } from './kernel.ts'

/** How many ARQs one read asks about. */
export const ARQS_PER_QUERY = 1000

/**
 * True for the ARQs that the caller may know of. A deleted ARQ has no recorded owner any more, so only administrators
 * may know of it.
 */
export type Knows = (arq: ArqUuid) => boolean
export type Visibility = (caller: Caller, arqs: readonly ArqUuid[]) => Promise<Outcome<Knows>>

export const createVisibility =
  ({ readers }: Pick<Kernel, 'readers'>): Visibility =>
  async ({ isAdmin, projectId }, arqs) => {
    if (isAdmin) return done(() => true)
    const own = new Set<ArqUuid>()
    for (let at = 0; at < arqs.length; at += ARQS_PER_QUERY) {
      const found = await readers.list('arqs', { uuid: arqs.slice(at, at + ARQS_PER_QUERY), project_id: projectId }, {})
      if (!found.ok) return found
      for (const { uuid } of found.value.items) own.add(uuid)
    }
    return done((arq) => own.has(arq))
  }
