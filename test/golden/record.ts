/**
 * Records what this release writes, for all later ones to read:
 *
 *   node test/golden/record.ts 0.1.0
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingIn } from './events.ts'
import { journalText, viewsText } from './fold.ts'
import { playScenario } from './scenario.ts'

type Releases = Record<string, { commit: string | null; journal: string }>
const file = (name: string) => join(import.meta.dirname, name)

const release = process.argv[2] ?? ''
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error('which release? such as 0.1.0')
const releases = JSON.parse(readFileSync(file('releases.json'), 'utf8')) as Releases
const known = releases[release]
// What was shipped is what later releases meet; it cannot be recorded anew.
if (known?.commit) throw new Error(`${release} was released as ${known.commit}: its journal stays as it is`)

const rows = await playScenario()
const missing = missingIn(rows)
if (missing.length > 0) throw new Error(`the scenario does not produce: ${missing.join(', ')}`)
writeFileSync(file(`${release}.ndjson`), journalText(rows))
writeFileSync(file(`${release}.views.txt`), viewsText(rows))
releases[release] = { commit: null, journal: `${release}.ndjson` }
writeFileSync(file('releases.json'), `${JSON.stringify(releases, null, 2)}\n`)
process.stdout.write(`${release}: ${rows.length} rows\n`)
process.exit()
