/**
 * `accelerando support-bundle`: an archive of the facts about an installation that a maintainer needs. Rules:
 * BUNDLE-1 a part that cannot be collected is named in `manifest.json` with the reason; the other parts are collected
 *    nevertheless.
 * BUNDLE-2 no part contains a secret of the configuration or the environment, wherever the part comes from.
 * BUNDLE-3 a part that is larger or takes longer than the limits is such a part, too.
 */
import { arch, platform, release } from 'node:os'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { orLate } from '../../vocabulary/waiting.ts'
import type { InForce } from '../config/inForce.ts'
import type { Finding } from '../doctor/check.ts'
import { VERSION } from '../version.ts'
import { type Api, withQuery } from './api.ts'
import { type TextFile, tarOf } from './tar.ts'

export type BundleLimits = {
  readonly partBytes: number
  readonly wholeBytes: number
  readonly partMs: number
  readonly wholeMs: number
}
export type BundleParts = {
  readonly inForce: InForce
  readonly api: Api
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>
  readonly doctor: () => Promise<readonly Finding[]>
  readonly limits: BundleLimits
  readonly clock: Clock
}
type Made = { readonly name: string; readonly text: string | null; readonly problem: string | null }

const EVENTS_MAX = 1000
/** The API returns events from the beginning; at most this many pages are read to reach the end. */
const PAGES_MAX = 2000
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

type Page = { readonly events: readonly unknown[]; readonly next: string; readonly more: boolean }
const lastEvents = async (api: Api, isOver: () => boolean): Promise<string> => {
  let [kept, after]: [readonly unknown[], string | undefined] = [[], undefined]
  for (let pages = 0, more = true; more && pages < PAGES_MAX && !isOver(); pages++) {
    const page: Page = await api<Page>('GET', withQuery('/events', { limit: String(EVENTS_MAX), after }))
    kept = [...kept, ...page.events].slice(-EVENTS_MAX)
    ;({ next: after, more } = page)
    if (more && pages + 1 === PAGES_MAX) throw new Error(`there are more than ${PAGES_MAX * EVENTS_MAX} events`)
  }
  return kept.map((event) => `${JSON.stringify(event)}\n`).join('')
}
const versions = () => ({
  accelerando: VERSION,
  node: process.versions.node,
  platform: `${platform()} ${release()} ${arch()}`,
})

/** `isOver`: nobody waits for the part any more. */
type Make = (isOver: () => boolean) => Promise<string>
const makers = ({ inForce, api, metrics, doctor }: BundleParts): Readonly<Record<string, Make>> => ({
  'versions.json': async () => json(versions()),
  'configuration.json': async () => json({ options: inForce.options }),
  'doctor.json': async () => json(await doctor()),
  'system.json': async () => json(await api('GET', '/system')),
  'overview.json': async () => json(await api('GET', '/overview')),
  'hosts.json': async () => json(await api('GET', '/hosts')),
  'deliveries.json': async () => json(await api('GET', '/deliveries')),
  'deliveries_undelivered.json': async () => json(await api('GET', '/deliveries?state=undelivered')),
  'drift.json': async () => json(await api('GET', '/drift')),
  'events.jsonl': (isOver) => lastEvents(api, isOver),
  'metrics.txt': metrics,
})

/** Rejects when the part takes longer than `ms`, or is larger than `bytes`. */
const within = async (make: Make, clock: Clock, ms: number, bytes: number): Promise<string> => {
  let over = false
  const made = make(() => over)
  const text = await orLate(clock, made, ms, () => {
    throw new Error(`it was not there within ${ms} ms`)
  }).finally(() => void (over = true))
  const size = Buffer.byteLength(text)
  if (size > bytes) throw new Error(`it has ${size} bytes, and there is room for ${bytes}`)
  return text
}

const partsOf = async (parts: BundleParts): Promise<readonly Made[]> => {
  const { clock, limits } = parts
  const end = clock.monotonic() + limits.wholeMs
  const all: Made[] = []
  let room = limits.wholeBytes
  for (const [name, make] of Object.entries(makers(parts)))
    try {
      const ms = Math.min(limits.partMs, Math.max(0, Math.round(end - clock.monotonic())))
      const text = parts.inForce.hide(await within(make, clock, ms, Math.min(limits.partBytes, room)))
      room = Math.max(0, room - Buffer.byteLength(text))
      all.push({ name, text, problem: null })
    } catch (error) {
      all.push({ name, text: null, problem: parts.inForce.hide(messageOf(error)) })
    }
  return all
}

export type Bundle = {
  readonly archive: Buffer<ArrayBuffer>
  readonly files: readonly TextFile[]
  /** The parts that could not be collected, and the reasons. */
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
}
export const bundle = async (parts: BundleParts): Promise<Bundle> => {
  const at = parts.clock.now()
  const all = await partsOf(parts)
  const files = all.flatMap(({ name, text }) => (text === null ? [] : [{ name, text }]))
  const problems = all.flatMap(({ name, problem }) => (problem === null ? [] : [{ name, problem }]))
  const manifest = { made_at: new Date(at).toISOString(), files: files.map(({ name }) => name), missing: problems }
  const whole = [{ name: 'manifest.json', text: json(manifest) }, ...files]
  return { archive: await promisify(gzip)(tarOf(whole, at)), files: whole, problems }
}

export const bundleName = (at: number): string =>
  `accelerando-support-${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.tar.gz`
