/**
 * `accelerando migrate --adopt`, for a database that has lost acknowledged rows: shows the lost rows, withholds each
 * attach handle that they name, and lets the controls write again. The controls may run meanwhile.
 */
import { silent } from '../../vocabulary/log.ts'
import { REMEMBERED_MAX } from '../../persistence/incarnation.ts'
import type { LostRow } from '../../persistence/lostRow.ts'
import { openStore } from '../../persistence/open.ts'
import { postgresDatabase } from '../../persistence/postgres/postgres.ts'
import { type Stopped, goOn, stoppedOf } from '../../persistence/stopped.ts'
import { keepBack } from './keepBack.ts'
import { openOfflinePlane } from './offlinePlane.ts'

type Out = (line: string) => void

export const stoppedIn = async (url: string): Promise<Stopped | null> => {
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    return await stoppedOf(database.read)
  } finally {
    await database.close()
  }
}

export const showLost = (lost: readonly LostRow[], out: Out): void => {
  for (const { key, version, events, at } of lost)
    out(`lost    ${new Date(at).toISOString()} ${key} version ${version}: ${events.map(({ type }) => type).join(', ')}`)
}
export const showStopped = ({ reason, since, lost }: Stopped, out: Out): void => {
  out(`stopped since ${since.toISOString()}: ${reason}`)
  showLost(lost, out)
  out(
    `listed  ${lost.length} rows. Each control that runs looks for the last ${REMEMBERED_MAX} rows that it wrote or read; ` +
      'what only a control knew that has ended is among them if it was published, and --from-topics was given',
  )
}

const keepBackIn = async (url: string, { lost }: Stopped, out: Out): Promise<readonly string[]> => {
  const store = await openStore({ kind: 'postgres', url, adopting: true })
  const plane = openOfflinePlane(store, silent)
  try {
    return await keepBack(plane.adoption, lost, out)
  } finally {
    await plane.stop()
    await store.close()
  }
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
type Adopting = {
  /** Withholds the handles that the lost rows name. Returns the reasons for those that could not be withheld. */
  readonly keepBack: (found: Stopped) => Promise<readonly string[]>
  /** Ends the stop, unless further lost rows were found meanwhile. */
  readonly end: (handled: Stopped) => Promise<boolean>
  readonly look: () => Promise<Stopped | null>
}
/** Rejects when something cannot be withheld; writing stays stopped then. */
export const adoptAll = async (stopped: Stopped, { keepBack, end, look }: Adopting, out: Out): Promise<void> => {
  let found: Stopped | null = stopped
  // a control may find further lost rows meanwhile: they are shown and their handles withheld as well
  for (let round = 0; found !== null && round < ROUNDS_MAX; round++) {
    showStopped(found, out)
    const failed = await keepBack(found)
    if (failed.length > 0) throw new Error(`writing stays stopped:\n${failed.join('\n')}`)
    found = (await end(found)) ? null : await look()
  }
  if (found !== null) throw new Error('writing stays stopped: controls keep finding lost rows; run it again')
  out('adopted what the database holds: the controls write again')
}

export const adoptLost = (url: string, stopped: Stopped, out: Out): Promise<void> =>
  adoptAll(
    stopped,
    {
      keepBack: (found) => keepBackIn(url, found, out),
      end: (handled) => endStop(url, handled),
      look: () => stoppedIn(url),
    },
    out,
  )
