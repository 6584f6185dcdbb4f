/**
 * The contracts that are derived from the code, as `npm run print` writes them. Paths are relative to
 * `infra/contracts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { manualPage, sampleFile } from '../src/cli/config/text.ts'
import { openapi } from '../src/http/openapi.ts'
import { ROUTES } from '../src/http/routes/all.ts'
import { asyncapi } from '../src/wire/asyncapi.ts'
import { commandsPage } from './commandsPage.ts'
import { commandsReference } from './commandsReference.ts'
import { driversPage } from './driversPage.ts'
import { errorsPage } from './errorsPage.ts'
import { eventsPage } from './eventsPage.ts'
import { statesPage } from './statesPage.ts'
import { consolePage, dashboards, metricsPage } from './observe/print.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
export const CONTRACTS = join(ROOT, 'infra/contracts')

export type Printed = { readonly path: string; readonly text: string }

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

export const printed = async (): Promise<readonly Printed[]> => [
  json('openapi.json', openapi(ROUTES)),
  json('asyncapi.json', asyncapi()),
  { path: 'commands.md', text: commandsPage() },
  { path: '../../docs/reference/commands.md', text: commandsReference() },
  { path: '../../docs/reference/errors.md', text: errorsPage() },
  { path: '../../docs/reference/events.md', text: eventsPage() },
  { path: '../../docs/reference/states.md', text: statesPage() },
  { path: 'accelerando.sample.toml', text: sampleFile() },
  { path: '../../docs/configuration.md', text: manualPage() },
  { path: '../../docs/drivers.md', text: driversPage() },
  ...dashboards().map(({ file, shown }) => json(`../observe/${file}`, shown)),
  { path: '../observe/consoles/accelerando.html', text: consolePage() },
  { path: '../../docs/metrics.md', text: metricsPage() },
  ...(await Promise.all(nouns().map(diagramOf))).flat(),
]

export const isCurrent = ({ path, text }: Printed): boolean => {
  const file = join(CONTRACTS, path)
  return existsSync(file) && readFileSync(file, 'utf8') === text
}
