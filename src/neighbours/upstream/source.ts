/** The port for a database of upstream Cyborg, on any kind of server. Nothing is ever written to it. */

/** A row whose values are texts, so that no client library interprets them. Null: NULL. */
export type TextRow = Readonly<Record<string, string | null>>
export type UpstreamSource = {
  /**
   * At most `limit` rows of a table with ids above `after`, ordered by id. All pages show the database as it was when
   * it was opened.
   */
  readonly page: (table: string, after: number, limit: number) => Promise<readonly TextRow[]>
  readonly close: () => Promise<void>
}

export const CONNECT_MS = 10_000
export const QUERY_MS = 60_000
