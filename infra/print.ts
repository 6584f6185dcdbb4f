/**
 * Prints the contracts that are derived from the code into infra/contracts: the REST description, the bus description,
 * the diagrams of the state tables, the help of the commands, and the sample configuration, whose manual page goes to
 * docs. With `--check` nothing is written: a difference is listed and the exit code is 1.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CONTRACTS, type Printed, isCurrent, printed } from './printed.ts'

const write = ({ path, text }: Printed): void => {
  const file = join(CONTRACTS, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const changed = (await printed()).filter((one) => !isCurrent(one))
if (process.argv.includes('--check')) {
  for (const { path } of changed)
    console.error(`${join('infra/contracts', path)} is not what the code prints; run "npm run print"`)
  process.exitCode = changed.length === 0 ? 0 : 1
} else {
  for (const each of changed) write(each)
  console.log(changed.length === 0 ? 'nothing changed' : `printed ${changed.map(({ path }) => path).join(', ')}`)
}
