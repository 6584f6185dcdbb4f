/** Binds in flight when the control that relays is killed: how long until all have ended. */
import { PROFILE } from '../stand.ts'
import type { Target } from '../tasks.ts'
import { type Scene, portsOf, remove } from './measure.ts'
import type { Control } from './stand.ts'

export type ClusterKill = {
  readonly inFlight: number
  /** How long the hosts stood still before: beyond 6 s the broker has given them up, and they join anew first. */
  readonly stoodMs: number
  /** From the kill to the end of the last bind. */
  readonly allMs: number
  readonly states: Readonly<Record<string, number>>
}

const LIMIT_MS = 120_000
const LANES = 32

const relaying = async (controls: readonly Control[]): Promise<Control> => {
  for (const control of controls) if ((await control.page()).sum('accelerando_relay_active') === 1) return control
  throw new Error('no control relays')
}

/** The hosts stand still until the kill, so that none of the binds has ended by then. */
export const measureClusterKill = async (
  scene: Scene,
  targets: readonly Target[],
  count: number,
): Promise<ClusterKill> => {
  const { stand, rig } = scene
  const { callers } = rig
  const ports = portsOf(stand)
  const victim = await relaying(stand.controls)
  const { made: asked } = await callers.run({ kind: 'create', ports, lanes: LANES, profile: PROFILE, count })
  const signal = (how: 'SIGSTOP' | 'SIGCONT'): void => stand.hosts.forEach(({ pid }) => process.kill(pid, how))
  const arqs = asked.map(({ arq }) => arq)
  signal('SIGSTOP')
  const stood = performance.now()
  try {
    await callers.run({ kind: 'accept', ports, lanes: LANES, arqs, targets })
  } catch (cause) {
    signal('SIGCONT')
    throw cause
  }
  const began = performance.now()
  await stand.endControl(victim, 'SIGKILL')
  signal('SIGCONT')
  const settle = { kind: 'settle', ports: portsOf(stand), lanes: 8, arqs, limitMs: LIMIT_MS } as const
  const { states } = await callers.run(settle)
  const allMs = performance.now() - began
  await remove(scene, asked)
  return { inFlight: asked.length, stoodMs: began - stood, allMs, states }
}
