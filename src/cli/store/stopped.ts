/**
 * Work on a store that no service uses. The lock of the data folder proves that; for PostgreSQL the operator confirms
 * it.
 */
import { mkdir } from 'node:fs/promises'
import { rebuild } from '../../actors/entities.ts'
import type { Log } from '../../log.ts'
import { openStore } from '../../persistence/open.ts'
import type { Config } from '../config/config.ts'
import { seed } from './seed.ts'
import type { SeedSize } from './seedGround.ts'
import { storeConfig } from '../programs/start.ts'

type Out = (line: string) => void
type Given = Readonly<Record<keyof SeedSize, string>>

const sizeOf = (given: Given): SeedSize => {
  const size = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, Number(text)])) as SeedSize
  const wrong = Object.entries(size).filter(
    ([key, value]) => !Number.isSafeInteger(value) || value < (key === 'arqs' ? 0 : 1),
  )
  if (wrong.length > 0)
    throw new Error(
      wrong.map(([key]) => `--${key}: must be a whole number, at least ${key === 'arqs' ? 0 : 1}`).join('\n'),
    )
  return size
}

const withStore = async <Value>(
  config: Config,
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Value>,
): Promise<Value> => {
  await mkdir(config.data, { recursive: true })
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
  const { bound, added, rows } = await withStore(config, (store) => seed(store, size, log))
  out(`seeded: ${bound} bound ARQs (${added} added), ${rows} journal rows, ${seconds(began)}`)
}

export const rebuildStore = async (config: Config, out: Out): Promise<void> => {
  const began = performance.now()
  const { journalRows, viewRows } = await withStore(config, (store) => store.rebuildViews(rebuild))
  out(`rebuilt: ${viewRows} view rows from ${journalRows} journal rows, ${seconds(began)}`)
}
