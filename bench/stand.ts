/**
 * Where a measurement stands: a store of its own that holds so many bound ARQs, and simulated hosts with free devices.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreKind } from './options.ts'
import type { Server } from './postgres.ts'
import { type Place, type Program, command, start } from './program.ts'
import type { Target } from './tasks.ts'

/** Hosts that run during a measurement. */
const HOSTS = 8
/** Devices of a host that are filled by the seed, and as many that stay free. */
const DEVICES = 8
const HANDLES = 32
export const PROFILE = 'seed-fpga'

export type Stand = {
  readonly kind: StoreKind
  readonly arqs: number
  readonly place: Place
  readonly seeded: string
  /** With simulated hosts, whose devices need work on the host at a bind or do not. */
  readonly start: (hostWork: boolean, profile?: string | null) => Promise<Program>
  /** As an operator starts it: no simulated hosts. */
  readonly startPlain: () => Promise<Program>
  readonly drop: () => Promise<void>
}

export const openStand = async (kind: StoreKind, arqs: number, server: Server | null): Promise<Stand> => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-bench-'))
  const database = kind === 'postgres' ? await server!.fresh() : null
  const place: Place = { data: join(folder, 'data'), database: database?.url ?? null }
  mkdirSync(place.data)
  const hosts = Math.max(HOSTS, Math.ceil(arqs / (DEVICES * HANDLES)))
  const size = { hosts, devices: DEVICES, handles: HANDLES, arqs, projects: 10 }
  const flags = Object.entries(size).flatMap(([name, value]) => [`--${name}`, String(value)])
  const seeded = await command('seed', place, [...flags, '--log-level', 'warn'])
  const demo = ['--demo-hosts', HOSTS, '--demo-devices', DEVICES * 2, '--demo-handles', HANDLES].map(String)
  return {
    kind,
    arqs,
    place,
    seeded,
    start: (hostWork, profile = null) =>
      start({ place, args: demo, env: { ACCELERANDO_DEMO_HOST_WORK: String(hostWork) }, profile }),
    startPlain: () => start({ place }),
    drop: async () => {
      rmSync(folder, { recursive: true, force: true })
      await database?.drop()
    },
  }
}

type Shown = { readonly name: string; readonly rp_uuid: string }

/** The devices the seed left alone: of each running host the later ones by address. */
export const targetsOf = async ({ port }: Program): Promise<readonly Target[]> => {
  const response = await fetch(`http://127.0.0.1:${port}/v2/deployables`)
  const { deployables } = (await response.json()) as { readonly deployables: readonly Shown[] }
  return Array.from({ length: HOSTS }, (_, at) => `sim-${at + 1}`).flatMap((hostname) =>
    deployables
      .filter(({ name }) => name.startsWith(`${hostname}_`))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .slice(DEVICES)
      .map(({ rp_uuid: rp }) => ({ hostname, rp, free: HANDLES })),
  )
}
