/**
 * `accelerando support-bundle`: an archive of the facts about an installation that a maintainer needs. Rules:
 * BUNDLE-1 a part that cannot be collected is named in `manifest.json` with the reason; the other parts are collected
 *    nevertheless.
 * BUNDLE-2 no part contains a secret of the configuration or the environment, wherever the part comes from.
 */
import { arch, platform, release } from 'node:os'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../../clock.ts'
import { messageOf } from '../../errorText.ts'
import { ask } from '../ask.ts'
import { type ConfigSources, gather } from '../config/gather.ts'
import { KEYS, rowOf, valueOf } from '../config/table.ts'
import type { Finding } from '../doctor/check.ts'
import { VERSION } from '../version.ts'
import { type Api, withQuery } from './api.ts'
import { HIDDEN, hiding, secretsOf } from './secrets.ts'
import { type TextFile, tarOf } from './tar.ts'

export type BundleParts = {
  readonly sources: ConfigSources
  readonly api: Api
  /** The address that serves `/metrics`. */
  readonly admin: string
  readonly doctor: () => Promise<readonly Finding[]>
  /** Secrets that are in no variable or option, such as a token that was just issued. */
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}
type Made = { readonly name: string; readonly text: string | null; readonly problem: string | null }

const EVENTS_MAX = 1000
/** The API returns events from the beginning; at most this many pages are read to reach the end. */
const PAGES_MAX = 2000
const METRICS_MS = 10_000
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Every option with its value and where it was set. */
const configurationOf = (sources: ConfigSources) => {
  const { sections, problems, originOf } = gather(sources)
  const options = KEYS.map((key) => {
    const value = valueOf(sections, key)
    const isHidden = rowOf(key).secret === true && value !== null
    return { key, value: isHidden ? HIDDEN : value, origin: originOf(key) ?? 'default' }
  })
  return { options, problems }
}

type Page = { readonly events: readonly unknown[]; readonly next: string; readonly more: boolean }
const lastEvents = async (api: Api): Promise<string> => {
  let [kept, after]: [readonly unknown[], string | undefined] = [[], undefined]
  for (let pages = 0, more = true; more && pages < PAGES_MAX; pages++) {
    const page: Page = await api<Page>('GET', withQuery('/events', { limit: String(EVENTS_MAX), after }))
    kept = [...kept, ...page.events].slice(-EVENTS_MAX)
    ;({ next: after, more } = page)
    if (more && pages + 1 === PAGES_MAX) throw new Error(`there are more than ${PAGES_MAX * EVENTS_MAX} events`)
  }
  return kept.map((event) => `${JSON.stringify(event)}\n`).join('')
}
const metricsAt = async (admin: string): Promise<string> => {
  const { status, text } = await ask(`${admin.replace(/\/+$/, '')}/metrics`, { timeoutMs: METRICS_MS })
  if (status !== 200) throw new Error(`${admin} answers ${status}`)
  return text
}
const versions = () => ({
  accelerando: VERSION,
  node: process.versions.node,
  platform: `${platform()} ${release()} ${arch()}`,
})

const makers = ({ sources, api, admin, doctor }: BundleParts): Readonly<Record<string, () => Promise<string>>> => ({
  'versions.json': async () => json(versions()),
  'configuration.json': async () => json(configurationOf(sources)),
  'doctor.json': async () => json(await doctor()),
  'overview.json': async () => json(await api('GET', '/overview')),
  'hosts.json': async () => json(await api('GET', '/hosts')),
  'deliveries.json': async () => json(await api('GET', '/deliveries')),
  'deliveries_undelivered.json': async () => json(await api('GET', '/deliveries?state=undelivered')),
  'drift.json': async () => json(await api('GET', '/drift')),
  'events.jsonl': async () => lastEvents(api),
  'metrics.txt': async () => metricsAt(admin),
})

const made = async (name: string, make: () => Promise<string>): Promise<Made> => {
  try {
    return { name, text: await make(), problem: null }
  } catch (error) {
    return { name, text: null, problem: messageOf(error) }
  }
}

export type Bundle = {
  readonly archive: Buffer
  readonly files: readonly TextFile[]
  /** The parts that could not be collected, and the reasons. */
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
}
export const bundle = async (parts: BundleParts): Promise<Bundle> => {
  const at = parts.clock.now()
  const all: Made[] = []
  for (const [name, make] of Object.entries(makers(parts))) all.push(await made(name, make))
  const hide = hiding(secretsOf(gather(parts.sources).sections, parts.sources.env, parts.secrets))
  const files = all.flatMap(({ name, text }) => (text === null ? [] : [{ name, text: hide(text) }]))
  const problems = all.flatMap(({ name, problem }) => (problem === null ? [] : [{ name, problem: hide(problem) }]))
  const manifest = { made_at: new Date(at).toISOString(), files: files.map(({ name }) => name), missing: problems }
  const whole = [{ name: 'manifest.json', text: json(manifest) }, ...files]
  return { archive: gzipSync(tarOf(whole, at)), files: whole, problems }
}
