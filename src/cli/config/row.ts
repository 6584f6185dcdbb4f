/** What the table of options is made of: a row names the field it fills, a kind of value, its default, and where it may be set. */
import type { Kind } from './kinds.ts'
import type { At, Path } from './sections.ts'

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
/** `standard` is the default as an operator would write it; null: nobody has to set it, and the field is null then. */
export type Row<P extends Path = Path> = Kind<unknown> & More & { readonly to: P; readonly standard: Plain | null }

const made = <P extends Path>(to: P, kind: Kind<never>, standard: Plain | null, more: More): Row<P> =>
  // the table holds rows of all types: each value comes from the schema of its own row
  ({ ...(kind as unknown as Kind<unknown>), ...more, to, standard })

export const row = <const P extends Path>(to: P, kind: Kind<At<P>>, standard: Plain, more: More): Row<P> =>
  made(to, kind as unknown as Kind<never>, standard, more)
type Given<Value> = unknown extends Value ? unknown : NonNullable<Value>
/** The field is null when nobody sets it. */
export const optional = <const P extends Path>(to: P, kind: Kind<Given<At<P>>>, more: More): Row<P> =>
  made(to, kind as unknown as Kind<never>, null, more)
