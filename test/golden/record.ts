/**
 * Names the commit at hand as a release, and records what it writes, for all later ones to read (docs/upgrade.md):
 *
 *   node test/golden/record.ts 0.4.0
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { VERSION } from '../../src/cli/version.ts'
import { missingIn } from './events.ts'
import { journalText, viewsText } from './fold.ts'
import { type Release, goldenFile, migrationDigests, releases } from './releases.ts'
import { playScenario } from './scenario.ts'
import { missingKinds, playTopics, topicsText } from './topics.ts'

/** All that a release is; what only proves it may have changed. */
const SHIPPED = ['src', 'bin', 'package.json', 'package-lock.json']
const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

const release = process.argv[2] ?? ''
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error('which release? such as 0.4.0')
if (release !== VERSION)
  throw new Error(`package.json says ${VERSION}: \`npm version ${release} --no-git-tag-version\` first`)
const known = releases()
// What was shipped is what later releases meet; it cannot be recorded anew.
if (known[release]) throw new Error(`${release} was released as ${known[release].commit}: what it wrote stays as it is`)
const changed = git('status', '--porcelain', '--', ...SHIPPED)
if (changed !== '') throw new Error(`a release is a commit; not committed is:\n${changed}`)

const rows = await playScenario()
const records = await playTopics(rows)
const missing = [...missingIn(rows), ...missingKinds(records)]
if (missing.length > 0) throw new Error(`the scenario does not produce: ${missing.join(', ')}`)
const shipped = {
  commit: git('rev-parse', 'HEAD'),
  journal: `${release}.ndjson`,
  topics: `${release}.topics.ndjson`,
  migrations: migrationDigests(),
} satisfies Release
writeFileSync(goldenFile(shipped.journal), journalText(rows))
writeFileSync(goldenFile(`${release}.views.txt`), viewsText(rows))
writeFileSync(goldenFile(shipped.topics), topicsText(records))
writeFileSync(goldenFile('releases.json'), `${JSON.stringify({ ...known, [release]: shipped }, null, 2)}\n`)
process.stdout.write(`${release} is ${shipped.commit}: ${rows.length} rows, ${records.length} messages\n`)
process.exit()
