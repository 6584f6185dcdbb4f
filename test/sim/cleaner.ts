/**
 * The command that cleans the devices of a compute node, where its operator has chosen one. It takes a while, and
 * sometimes fails.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../src/vocabulary/clock.ts'
import { type RunProgram, createCleaner } from '../../src/host/cleaning.ts'
import type { HostStart } from '../../src/host/host.ts'
import { pause } from '../../src/vocabulary/waiting.ts'
import { NO_ANSIBLE, type ProgramEnd } from '../support/ansible.ts'
import type { Bite } from './lies.ts'
import type { Random } from './random.ts'

/** The nodes that clean; the others have no policy. */
const CLEANING_NODES: readonly string[] = ['h2', 'h3']
/** How often such a node starts without its policy: its file was edited, or is not mounted, until the next start. */
const POLICY_IS_GONE = 0.35
const LIMIT_MS = 30_000
const TAKES_MS = 10_000
const FAILS = 0.2
const ended = (code: number): ProgramEnd => ({
  code,
  why: null,
  outputSha256: createHash('sha256').digest('hex'),
  outputBytes: 0,
  outputEnd: '',
})

type Ports = {
  readonly name: string
  readonly bite: Bite | null
  readonly driver: string
  readonly random: Random
  readonly say: (line: string) => void
}
export const simCleaner = ({ name, bite, driver, random, say }: Ports) => {
  /** What was really cleaned, as `<slot> <number>`. */
  const cleaned = new Set<string>()
  const policiesNow = () => {
    if (!CLEANING_NODES.includes(name)) return new Map()
    if (bite !== 'cleaning skipped' && random.chance(POLICY_IS_GONE)) {
      say('starts without its policy of cleaning')
      return new Map()
    }
    return new Map([[driver, { driver, kind: 'command', command: ['/sbin/wipe'], limitMs: LIMIT_MS } as const]])
  }
  const cleanerOf = (clock: Clock): Pick<HostStart, 'cleaner'> => {
    const run: RunProgram = async (_program, _args, environment, { signal }) => {
      const { ACCELERANDO_HANDLE: slot, ACCELERANDO_ORDER: number } = environment
      if (bite === 'cleaning skipped') return ended(0)
      await pause(clock, random.below(TAKES_MS), signal)
      if (random.chance(FAILS)) return ended(1)
      cleaned.add(`${slot} ${number}`)
      return ended(0)
    }
    return { cleaner: createCleaner({ policies: policiesNow(), run, clock, ansible: NO_ANSIBLE }) }
  }
  return { cleaned, cleanerOf }
}
