/** Prints a summary of the run as text. */
import { type Account, PHASES, type Phase } from './account.ts'

export type Figures = {
  readonly accepted: number
  readonly bound: number
  readonly failed: number
  readonly kills: number
  readonly inFlight: number
  /** Kills at which at least one bind was in that phase. */
  readonly hit: Readonly<Record<Phase, number>>
}

const sum = (counts: Readonly<Record<Phase, number>>) => PHASES.reduce((total, phase) => total + counts[phase], 0)

export const figuresOf = ({ lives, kills }: Account): Figures => {
  const ends = lives.flatMap(({ seen }) => [[...seen.values()][0]?.state])
  return {
    accepted: lives.filter(({ acceptedAt }) => acceptedAt !== null).length,
    bound: ends.filter((state) => state === 'Bound').length,
    failed: ends.filter((state) => state === 'BindFailed').length,
    kills: kills.length,
    inFlight: kills.reduce((total, { inFlight }) => total + sum(inFlight), 0),
    hit: Object.fromEntries(
      PHASES.map((phase) => [phase, kills.filter(({ inFlight }) => inFlight[phase] > 0).length]),
    ) as Figures['hit'],
  }
}

const row = (cells: readonly (string | number)[]) => cells.map((cell) => String(cell).padStart(8)).join('')

export const killRow = (account: Account): string => {
  const { aim, inFlight, readyMs } = account.kills.at(-1)!
  return row([account.kills.length, aim, ...PHASES.map((phase) => inFlight[phase]), sum(inFlight), `${readyMs} ms`])
}
export const killHead = `${row(['kill', 'aim', ...PHASES, 'all'])}  ready again   (binds in flight at the kill, by phase)`

export const sentence = ({ accepted, bound, failed }: Figures): string =>
  `${accepted} binds accepted (${bound} Bound, ${failed} BindFailed, ${accepted - bound - failed} given up before their end)`
export const tally = ({ hit }: Figures): string => PHASES.map((phase) => `${phase} ${hit[phase]}`).join(', ')
