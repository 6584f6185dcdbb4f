/** A database of upstream Cyborg: what the reader needs of it, whichever server it is on. Nothing is ever written to it. */

/** A row as text, so that no driver guesses what a value means. Null: NULL. */
export type TextRow = Readonly<Record<string, string | null>>
export type UpstreamSource = {
  /** At most `limit` rows of a table with ids above `after`, by id. All pages show the database as it was when it was opened. */
  readonly page: (table: string, after: number, limit: number) => Promise<readonly TextRow[]>
  readonly close: () => Promise<void>
}

export const CONNECT_MS = 10_000
export const QUERY_MS = 60_000
