/**
 * Prints the contracts that are derived from the code into infra/contracts: the REST description, the bus description,
 * the diagrams of the state tables, and the sample configuration, whose manual page goes to docs. With `--check` nothing
 * is written: a difference is listed and the exit code is 1.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { manualPage, sampleFile } from '../src/cli/config/text.ts'
import { openapi } from '../src/http/openapi.ts'
import { ROUTES } from '../src/http/routes/all.ts'
import { asyncapi } from '../src/wire/asyncapi.ts'
import { consolePage, dashboard, metricsPage } from './observe/print.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const CONTRACTS = join(ROOT, 'infra/contracts')

type Printed = { readonly path: string; readonly text: string }

const json = (path: string, value: unknown): Printed => ({ path, text: `${JSON.stringify(value, null, 2)}\n` })

const diagramOf = async (noun: string): Promise<readonly Printed[]> => {
  const file = join(ROOT, 'src/actors', noun, 'states.ts')
  if (!existsSync(file)) return []
  const states = (await import(pathToFileURL(file).href)) as { readonly diagram?: () => string }
  if (states.diagram === undefined) return []
  return [
    { path: `states/${noun}.md`, text: `# States of ${noun}\n\n\`\`\`mermaid\n${states.diagram().trim()}\n\`\`\`\n` },
  ]
}

const nouns = (): readonly string[] =>
  readdirSync(join(ROOT, 'src/actors'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted()

const printed = async (): Promise<readonly Printed[]> => [
  json('openapi.json', openapi(ROUTES)),
  json('asyncapi.json', asyncapi()),
  { path: 'accelerando.sample.toml', text: sampleFile() },
  { path: '../../docs/configuration.md', text: manualPage() },
  json('../observe/dashboard.json', dashboard()),
  { path: '../observe/consoles/accelerando.html', text: consolePage() },
  { path: '../../docs/metrics.md', text: metricsPage() },
  ...(await Promise.all(nouns().map(diagramOf))).flat(),
]

const differs = ({ path, text }: Printed): boolean => {
  const file = join(CONTRACTS, path)
  return !existsSync(file) || readFileSync(file, 'utf8') !== text
}

const write = ({ path, text }: Printed): void => {
  const file = join(CONTRACTS, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const changed = (await printed()).filter(differs)
if (process.argv.includes('--check')) {
  for (const { path } of changed)
    console.error(`${join('infra/contracts', path)} is not what the code prints; run "npm run print"`)
  process.exitCode = changed.length === 0 ? 0 : 1
} else {
  for (const each of changed) write(each)
  console.log(changed.length === 0 ? 'nothing changed' : `printed ${changed.map(({ path }) => path).join(', ')}`)
}
