/** A case for each condition of the invariants of `src/audit/programs.ts`. */
import type { Evidence, HostTrace } from '../../../src/audit/evidence.ts'
import {
  type Append,
  type Case,
  type Fact,
  board,
  deployable,
  granted,
  of,
  order,
  recorded,
  released,
} from './scene.ts'
import { onHost } from './hosts.ts'

const card = deployable('d1', recorded({ bitstreamId: 'image' }))
const holds = (loaded: HostTrace['loaded'], more: readonly Append[] = [], name = 'host1'): Partial<Evidence> => ({
  ...of(card, ...more),
  quiet: true,
  hosts: [{ name, steps: [], ...(loaded ? { loaded } : {}) }],
})
const another = (is: string) => onHost(null, `board is recorded with image image and holds ${is}`, ['deployable/d1'])
const fact = (event: Fact): Append => deployable('d1', event)
const program: Fact = { type: 'ProgramStarted', image: 'other', order: order('d1', 1) }
const failed: Fact = { type: 'ProgramFailed', image: 'other', number: 1, reason: 'r' }

export const programCases: readonly Case[] = [
  ['S14', 'it holds what is recorded', holds({ board: 'image' }), []],
  ['S14', 'it holds another image', holds({ board: 'other' }), [another('other')]],
  ['S14', 'it holds none', holds({}), [another('no image')]],
  ['S14', 'nobody looked', holds(undefined), []],
  ['S14', 'another host was looked at', holds({}, [], 'host2'), []],
  ['S14', 'no image is recorded', { ...holds({ board: 'other' }), ...of(board) }, []],
  ['S14', 'it is being programmed', holds({}, [fact(program)]), []],
  ['S14', 'what it holds is unknown since a failure', holds({}, [fact(program), fact(failed)]), []],
  ['S14', 'a preparation is unanswered', holds({}, [fact(granted('h1', 'a1', order('h1', 1)))]), []],
  ['S14', 'it was given up', holds({}, [fact(granted()), fact(released())]), [another('no image')]],
  ['S14', 'it is away', holds({}, [fact({ type: 'PresenceSet', presence: 'missing' })]), []],
  ['S14', 'it is not quiet', { ...holds({}), quiet: false }, []],
]
