/** What the table of options is made of: a row names a kind of value, its default, and where it may be set. */
import type { Kind } from './kinds.ts'

/** What a TOML file can hold. */
type Flat = string | number | boolean | Readonly<Record<string, string>>
export type Plain = Flat | readonly Flat[]
type More = {
  /** Sentences for people. */
  readonly about: string
  /** There is a flag: of the same name, or of the one given here. */
  readonly flag?: true | `--${string}`
  /** Not shown in messages. */
  readonly secret?: true
  /** Where it may stand, when not everywhere. */
  readonly only?: 'environment' | 'environment and flag'
  /** Written in the sample where there is no default. */
  readonly example?: Plain
}
export type Row<Value> = Kind<Value> & More & { readonly standard: Plain | null }

export const row = <Value>(kind: Kind<Value>, standard: Plain, more: More): Row<Value> => ({
  ...kind,
  ...more,
  standard,
})
/** Null when nobody sets it. */
export const optional = <Value>(kind: Kind<Value>, more: More): Row<Value | null> => ({
  ...kind,
  ...more,
  standard: null,
})
