/**
 * What an import changes or leaves behind, row by row: the damage of upstream has the numbers of agent-and-conductor
 * 12.
 */
import type { UpstreamRow, UpstreamTable } from './rows.ts'

/** What each rule means. Those without a number are damage that follows from no single window of upstream. */
export const RULES = {
  W1: 'a bind that upstream never finished has failed',
  W3: 'an attach handle that is marked as used and that no request has is withheld',
  W7: 'a bound request keeps an attach handle that the table says is free',
  W9: 'the attach handle of a bind that failed is withheld',
  W11: 'a deployable that Placement was never told of gets the provider that follows from its name',
  W12: 'of several devices with one resource provider, one is kept',
  W14: 'a device without control path is retired, or known by the function that a request has of it',
  W17: 'of several rows for one thing, one is kept',
  W21: 'what an FPGA holds is unknown, unless a request uses it and no bind that was to load another image has failed',
  W23: 'attributes that are not of the driver belong to operators, and reports do not delete them',
  'two holders': 'an attach handle that several requests are bound to stays with the first, and is in doubt',
  shared: 'an attach handle with hardware of another one that is in use is withheld',
  forsaken: 'the attach handle of a bound request that is not taken over is withheld',
  'handle lost': 'a request is bound to an attach handle that does not exist or cannot be read',
  'no instance': 'a request that is bound to nothing known is unbound',
  'ended bind': 'a failed request that cannot stay with its instance is unbound',
  deleting: 'a request that was being deleted is left out',
  tree: 'parent and root of a deployable have to agree',
  class: 'a deployable has exactly one resource class',
  count: 'a deployable has as many accelerators as its tree has attach handles',
  type: 'types of later releases of upstream are those that existing clients know',
  cleaning: 'a device that upstream was cleaning, or could not clean, is in maintenance',
  name: 'letters, digits, "_" and "-", at most 255 of them, name a device profile',
  amount: 'the amounts of a device profile sum to at most 256',
  text: 'text without NUL and half characters',
  value: 'a value that cannot be read',
  orphan: 'a row that refers to one that is not there',
} as const
export type Rule = keyof typeof RULES

/**
 * `repaired`: taken over, otherwise than it was. `unusable`: taken over as it was, but not for new requests. `left
 * out`: not taken over.
 */
export type Outcome = 'repaired' | 'unusable' | 'left out'
export type Note = {
  readonly outcome: Outcome
  readonly rule: Rule
  readonly table: UpstreamTable
  readonly id: number
  readonly uuid: string
  readonly text: string
}
export type Notes = {
  readonly repaired: (table: UpstreamTable, row: UpstreamRow, rule: Rule, text: string) => void
  readonly unusable: (table: UpstreamTable, row: UpstreamRow, rule: Rule, text: string) => void
  readonly leftOut: (table: UpstreamTable, row: UpstreamRow, rule: Rule, text: string) => void
  readonly all: () => readonly Note[]
}

export const openNotes = (): Notes => {
  const notes: Note[] = []
  const add =
    (outcome: Outcome): Notes['repaired'] =>
    (table, { id, uuid }, rule, text) =>
      void notes.push({ outcome, rule, table, id, uuid, text })
  return { repaired: add('repaired'), unusable: add('unusable'), leftOut: add('left out'), all: () => notes }
}
