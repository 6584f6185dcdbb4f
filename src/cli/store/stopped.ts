/**
 * Work on a store that no service uses. The lock of the data folder proves that; for PostgreSQL the operator confirms
 * it.
 */
import { misused } from '../exits.ts'
import { rebuild } from '../../actors/entities.ts'
import type { Log } from '../../vocabulary/log.ts'
import { openStore } from '../../persistence/open.ts'
import type { Config } from '../config/config.ts'
import { seed } from './seed.ts'
import type { SeedSize } from './seedHardware.ts'
import { withProgress } from '../progress.ts'
import { makeDataFolder } from '../programs/dataFolder.ts'
import { storeConfig } from '../programs/start.ts'

type Out = (line: string) => void
type Given = Readonly<Record<keyof SeedSize, string>>

const sizeOf = (given: Given): SeedSize => {
  const size = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, Number(text)])) as SeedSize
  const wrong = Object.entries(size).filter(
    ([key, value]) => !Number.isSafeInteger(value) || value < (key === 'arqs' ? 0 : 1),
  )
  if (wrong.length > 0)
    throw misused(
      wrong.map(([key]) => `--${key}: must be a whole number, at least ${key === 'arqs' ? 0 : 1}`).join('\n'),
    )
  return size
}

export const withStore = async <Value>(
  config: Config,
  log: Log,
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Value>,
): Promise<Value> => {
  await makeDataFolder(config.data, log)
  const store = await openStore(storeConfig(config))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const seconds = (began: number) => `${((performance.now() - began) / 1000).toFixed(1)} s`

export const seedStore = async (config: Config, given: Given, log: Log, out: Out): Promise<void> => {
  const size = sizeOf(given)
  const began = performance.now()
  const { bound, added, rows } = await withStore(config, log, (store) => seed(store, size, log))
  out(`seeded: ${bound} bound ARQs (${added} added), ${rows} journal rows, ${seconds(began)}`)
}

export const rebuildStore = async (config: Config, log: Log, out: Out): Promise<void> => {
  const began = performance.now()
  const { journalRows, viewRows } = await withStore(config, log, (store) =>
    withProgress({ what: 'journal rows', total: null }, (progress) =>
      store.rebuildViews((key, rows) => {
        progress.add(rows.length)
        return rebuild(key, rows)
      }),
    ),
  )
  out(`rebuilt: ${viewRows} view rows from ${journalRows} journal rows, ${seconds(began)}`)
}
