/** A process to be killed: opens a folder, appends without end, and says each version the store has acknowledged. */
import { writeSync } from 'node:fs'
import { openStore } from '../../src/persistence/open.ts'
import * as sample from './samples.ts'

const [dir] = process.argv.slice(2)
const { journal } = await openStore({ kind: 'pglite', dir: dir! })
/** The pipe is full while its reader has other things to do. */
const say = (line: string): void => {
  for (;;)
    try {
      return void writeSync(1, line)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EAGAIN') throw cause
    }
}
const append = async (key: string): Promise<void> => {
  for (let version = 1; ; version++) {
    const verdict = await journal.append(sample.one(key, version, [sample.arqChange(sample.arqRow())]))
    if (verdict !== 'appended') throw new Error(JSON.stringify(verdict))
    say(`${key} ${version}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, () => append(sample.newKey())))
