/** A process to be killed: opens a folder, appends without end, and says each version the store has acknowledged. */
import { writeSync } from 'node:fs'
import { openStore } from '../../src/persistence/open.ts'
import * as sample from './samples.ts'

const [dir] = process.argv.slice(2)
const { journal } = await openStore({ kind: 'pglite', dir: dir! })
const append = async (key: string): Promise<void> => {
  for (let version = 1; ; version++) {
    const verdict = await journal.append(sample.one(key, version, [sample.arqChange(sample.arqRow())]))
    if (verdict !== 'appended') throw new Error(JSON.stringify(verdict))
    writeSync(1, `${key} ${version}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, () => append(sample.newKey())))
