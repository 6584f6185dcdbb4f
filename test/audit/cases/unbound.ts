/** A case for each condition of the age of requests that nobody has bound. */
import { type Append, type Case, arq, bindStarted, created, isBound, of, unbound } from './scene.ts'

const aged = (...appends: readonly Append[]) => ({
  ...of(...appends),
  quiet: true,
  now: 91_001,
  unboundTtlMs: 60_000,
})
const stale = (status: string, ms: number) => [
  { found: `arq/a1 has been ${status} for ${ms} ms, of at most 60000`, keys: ['arq/a1'] },
]
export const unboundCases: readonly Case[] = [
  ['L5 unbound', 'it is as old as it may be', { ...aged(created('a1')), now: 91_000 }, []],
  ['L5 unbound', 'it is older', aged(created('a1')), stale('Initial', 90_001)],
  ['L5 unbound', 'it was unbound not long ago', aged(created('a1'), arq('a1', bindStarted()), arq('a1', unbound)), []],
  [
    'L5 unbound',
    'it was unbound long ago',
    { ...aged(created('a1'), arq('a1', bindStarted()), arq('a1', unbound)), now: 99_000 },
    stale('Unbound', 96_000),
  ],
  ['L5 unbound', 'it is bound', aged(created('a1'), arq('a1', bindStarted(), isBound)), []],
  ['L5 unbound', 'it is deleted', aged(created('a1'), arq('a1', { type: 'ArqRemoved', was: null })), []],
  ['L5 unbound', 'nothing worked meanwhile', { ...aged(created('a1')), pauses: [{ from: 2000, to: 3000 }] }, []],
  ['L5 unbound', 'there is no such age', { ...aged(created('a1')), unboundTtlMs: 0 }, []],
  ['L5 unbound', 'it is not quiet', { ...aged(created('a1')), quiet: false }, []],
]
