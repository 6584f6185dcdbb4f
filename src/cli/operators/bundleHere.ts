/** The support bundle of a running program, made by itself with the rights of the caller. */
import { systemClock } from '../../vocabulary/clock.ts'
import { done, refuse } from '../../vocabulary/fault.ts'
import type { File } from '../../http/system.ts'
import { examine } from '../doctor/doctor.ts'
import { hidingTokens } from '../config/inForce.ts'
import type { App } from '../programs/listen.ts'
import type { Bundles, BundleSurroundings } from '../programs/systemPort.ts'
import { type Api, NEWEST, refusal } from './api.ts'
import { bundle, bundleName } from './supportBundle.ts'

const MIB = 1024 * 1024
/** A proxy in front of the service usually waits for a minute. */
const LIMITS = { partBytes: 16 * MIB, wholeBytes: 48 * MIB, partMs: 15_000, wholeMs: 45_000 }
const AGAIN_SECONDS = 10

/** The text of the answer. Rejects when it is longer than `max` bytes; the rest is not read. */
const textIn = async (answer: Response, max: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    // leaving the loop cancels the answer
    if (size > max) throw new Error(`its document is larger than ${max} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const apiAs =
  (app: App, origin: string, identity: Readonly<Record<string, string>>): Api =>
  async <Document>(method: string, path: string) => {
    const headers = { ...identity, ...NEWEST }
    const answer = await app.fetch(new Request(`http://127.0.0.1/v2${path}`, { method, headers }))
    const text = await textIn(answer, LIMITS.partBytes)
    if (answer.ok) return JSON.parse(text) as Document
    throw refusal({ what: `${method} ${path}`, base: origin, status: answer.status, text })
  }

const make = async (
  { config, meter, api, clock }: BundleSurroundings,
  identity: Readonly<Record<string, string>>,
): Promise<File | null> => {
  const here = api()
  if (here === null) return null
  const { archive } = await bundle({
    inForce: hidingTokens(config.inForce, identity),
    api: apiAs(here.app, here.origin, identity),
    metrics: () => meter.registry.metrics(),
    doctor: () =>
      examine({ ...config, api: here.origin, novaConf: [], hardware: false, mend: false, clock: systemClock }),
    limits: LIMITS,
    clock,
  })
  return { name: bundleName(clock.now()), type: 'application/gzip', content: archive }
}

/** One at a time, because each asks much of the database and of the services of the cloud. */
export const bundlesOf: Bundles = (surroundings) => {
  let making = false
  const later = (kind: 'crowded' | 'unavailable', reason: string) =>
    refuse({ kind, reason, retryAfterSeconds: AGAIN_SECONDS })
  return async (identity) => {
    if (making) return later('crowded', 'this process is making another support bundle')
    making = true
    try {
      const file = await make(surroundings, identity)
      return file === null ? later('unavailable', 'the program is starting') : done(file)
    } finally {
      making = false
    }
  }
}
