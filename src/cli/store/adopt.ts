/**
 * `accelerando migrate --adopt` after the database lost rows that it had acknowledged: shows what is gone, keeps back each attach handle that
 * a lost row names, and lets the controls write again. They may run meanwhile.
 */
import type { Caller } from '../../actors/control.ts'
import { systemIds } from '../../clock.ts'
import { silent } from '../../log.ts'
import { type Stopped, goOn, stoppedOf } from '../../persistence/incarnation.ts'
import { openStore } from '../../persistence/open.ts'
import { postgresDatabase } from '../../persistence/postgres/postgres.ts'
import { openOfflinePlane } from './offlinePlane.ts'

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

/** Keeps back the handles that are free by what the journal holds now, though a lost row names them. Returns what could not be kept back. */
const quarantine = async (url: string, { lost }: Stopped, out: Out): Promise<readonly string[]> => {
  const named = new Set(lost.flatMap(({ events }) => JSON.stringify(events).match(UUID) ?? []))
  const store = await openStore({ kind: 'postgres', url, adopting: true })
  const plane = openOfflinePlane(store, silent)
  const failed: string[] = []
  try {
    for (const uuid of named) {
      const [row] = (await store.reads.page({ view: 'handles', where: { uuid }, sort: 'uuid', limit: 1 })) ?? []
      if (row === undefined || row.state === 'quarantined') continue
      const by = row.arq_uuid === null ? '' : ` by ARQ ${row.arq_uuid}`
      if (row.state !== 'free') {
        out(
          `in use  handle ${uuid} of host ${row.hostname} is ${row.state}${by}, and a lost row names it: another guest may use it. ` +
            'Do not unbind or delete that ARQ before the host shows that nothing else uses the handle',
        )
        continue
      }
      const done = await plane.control.handles.quarantine(CALLER, uuid, NOTE)
      if (done.ok) out(`quarantined handle ${uuid} of host ${row.hostname}`)
      else failed.push(`handle ${uuid} of host ${row.hostname} could not be quarantined: ${JSON.stringify(done.fault)}`)
    }
  } finally {
    await plane.stop()
    await store.close()
  }
  return failed
}

const endStop = async (url: string, handled: Stopped): Promise<boolean> => {
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    return await database.transaction((run) => goOn(run, handled))
  } finally {
    await database.close()
  }
}

const ROUNDS_MAX = 10
/** Rejects when a handle cannot be quarantined; writing stays stopped then. */
export const adoptLost = async (url: string, stopped: Stopped, out: Out): Promise<void> => {
  let found: Stopped | null = stopped
  // a control may find further rows meanwhile: they are shown and kept back as well
  for (let round = 0; found !== null && round < ROUNDS_MAX; round++) {
    showStopped(found, out)
    const failed = await quarantine(url, found, out)
    if (failed.length > 0) throw new Error(`writing stays stopped:\n${failed.join('\n')}`)
    found = (await endStop(url, found)) ? null : await stoppedIn(url)
  }
  if (found !== null) throw new Error('writing stays stopped: controls keep finding lost rows; run it again')
  out('adopted what the database holds: the controls write again')
}
