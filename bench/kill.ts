/**
 * Binds in flight when the program is killed: how long until all have ended, counted from the start of the next
 * process.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadGenerator } from './generator.ts'
import { quiet } from './proc.ts'
import { type Stand, PROFILE, targetsOf } from './stand.ts'

export type Killed = {
  readonly inFlight: number
  readonly readyMs: number
  /** From the start of the process to the end of the last bind. */
  readonly allMs: number
  readonly states: Readonly<Record<string, number>>
}

const LIMIT_MS = 130_000

/** While it lies there, nothing that was begun on these hosts ends. */
const injectFaults = ({ place }: Stand, hosts: readonly string[]) => {
  const files = hosts.map((host) => join(place.data, 'hosts', host, 'drivers', 'faults.json'))
  return {
    make: (): void => {
      for (const file of files) {
        mkdirSync(join(file, '..'), { recursive: true })
        writeFileSync(file, JSON.stringify({ delayMs: 50_000 }))
      }
    },
    clear: (): void => {
      for (const file of files) rmSync(file, { force: true })
    },
  }
}

export const measureKill = async (stand: Stand, generator: LoadGenerator, count: number): Promise<Killed> => {
  const before = await stand.start(true)
  const targets = await targetsOf(before)
  const injected = injectFaults(stand, [...new Set(targets.map(({ hostname }) => hostname))])
  injected.make()
  const flood = { kind: 'flood', lanes: 32, profile: PROFILE, targets, count } as const
  const { made } = await generator.run({ ...flood, port: before.port })
  await before.end('SIGKILL')
  injected.clear()
  const began = performance.now()
  const after = await stand.start(true)
  const arqs = made.map(({ arq }) => arq)
  const settle = { kind: 'settle', lanes: 4, arqs, limitMs: LIMIT_MS } as const
  const { states } = await generator.run({ ...settle, port: after.port })
  const allMs = performance.now() - began
  await generator.run({ kind: 'remove', port: after.port, lanes: 2, arqs })
  await quiet(after.pid)
  await after.end('SIGTERM')
  return { inFlight: made.length, readyMs: after.readyMs, allMs, states }
}
