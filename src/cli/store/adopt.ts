/**
 * `accelerando migrate --adopt` after the database lost rows that it had acknowledged: shows what is gone, keeps back each attach handle that
 * a lost row names, and lets the controls write again. They may run meanwhile.
 */
import type { Caller } from '../../actors/control.ts'
import { openControlPlane } from '../../actors/controlPlane.ts'
import { systemClock, systemIds } from '../../clock.ts'
import { silent } from '../../log.ts'
import { type Stopped, goOn, stoppedOf } from '../../persistence/incarnation.ts'
import { openStore } from '../../persistence/open.ts'
import { postgresDatabase } from '../../persistence/postgres/postgres.ts'

type Out = (line: string) => void

const CALLER: Caller = {
  userId: 'migrate --adopt',
  projectId: 'operators',
  isAdmin: true,
  isService: false,
  requestId: `req-${systemIds.uuid()}`,
}
const NOTE = {
  by: 'migrate --adopt',
  reason:
    'a journal row that the database has lost names it: it may be in use. Release it when its host shows that it is not',
}
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

export const stoppedIn = async (url: string): Promise<Stopped | null> => {
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    return await stoppedOf(database.read)
  } finally {
    await database.close()
  }
}

export const showStopped = ({ reason, since, lost }: Stopped, out: Out): void => {
  out(`stopped since ${since.toISOString()}: ${reason}`)
  for (const { key, version, events, at } of lost)
    out(`lost    ${new Date(at).toISOString()} ${key} version ${version}: ${events.map(({ type }) => type).join(', ')}`)
}

/** Handles that are free by what the journal holds now, though a lost row names them. */
const quarantine = async (url: string, { lost }: Stopped, out: Out): Promise<void> => {
  const named = new Set(lost.flatMap(({ events }) => JSON.stringify(events).match(UUID) ?? []))
  const store = await openStore({ kind: 'postgres', url, adopting: true })
  const plane = openControlPlane({
    journal: store.journal,
    reads: store.reads,
    sharing: store.sharing,
    clock: systemClock,
    ids: systemIds,
    images: { find: async () => ({ found: false, why: 'none' }) },
    nova: null,
    publish: async () => {},
    log: silent,
  })
  try {
    for (const uuid of named) {
      const [row] = (await store.reads.page({ view: 'handles', where: { uuid }, sort: 'uuid', limit: 1 })) ?? []
      if (row === undefined) continue
      if (row.state !== 'free') {
        out(
          `kept    handle ${uuid} of host ${row.hostname} is ${row.state}${row.arq_uuid === null ? '' : ` by ARQ ${row.arq_uuid}`}`,
        )
        continue
      }
      const done = await plane.control.handles.quarantine(CALLER, uuid, NOTE)
      if (!done.ok) throw new Error(`handle ${uuid} cannot be quarantined: ${JSON.stringify(done.fault)}`)
      out(`quarantined handle ${uuid} of host ${row.hostname}`)
    }
  } finally {
    await plane.stop()
    await store.close()
  }
}

/** Rejects when a handle cannot be quarantined; writing stays stopped then. */
export const adoptLost = async (url: string, stopped: Stopped, out: Out): Promise<void> => {
  showStopped(stopped, out)
  await quarantine(url, stopped, out)
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    await goOn(database.write)
  } finally {
    await database.close()
  }
  out('adopted what the database holds: the controls write again')
}
