/**
 * The rows of the table of options. A row names the field it fills, the kind of its value, its default, and where it
 * may be set.
 */
import type { Kind } from './kinds.ts'
import type { At, Path } from './sections.ts'

/** A value that a TOML file can hold. */
type Flat = string | number | boolean | Readonly<Record<string, string | number | readonly string[]>>
export type Plain = Flat | readonly Flat[]
type More = {
  /** Description for the manual and the help text. */
  readonly about: string
  /** The option has a command-line flag: `true` for a flag of the same name, or the name of the flag. */
  readonly flag?: true | `--${string}`
  /** The value of the option is not shown in messages. */
  readonly secret?: true
  /** The only places where it may be set, if not everywhere. */
  readonly only?: 'environment' | 'environment and flag'
  /** Value shown in the sample file when there is no default. */
  readonly example?: Plain
}
/**
 * `standard` is the default as an operator would write it. Null: the option is optional, and its field is null when it
 * is not set.
 */
export type Row<P extends Path = Path> = Kind<unknown> & More & { readonly to: P; readonly standard: Plain | null }

const made = <P extends Path>(to: P, kind: Kind<never>, standard: Plain | null, more: More): Row<P> =>
  // The table holds rows of all types. Each value is produced by the schema of its own row, so the cast is safe.
  ({ ...(kind as unknown as Kind<unknown>), ...more, to, standard })

export const row = <const P extends Path>(to: P, kind: Kind<At<P>>, standard: Plain, more: More): Row<P> =>
  made(to, kind as unknown as Kind<never>, standard, more)
type Given<Value> = unknown extends Value ? unknown : NonNullable<Value>
/** An option without a default: its field is null when it is not set. */
export const optional = <const P extends Path>(to: P, kind: Kind<Given<At<P>>>, more: More): Row<P> =>
  made(to, kind as unknown as Kind<never>, null, more)
