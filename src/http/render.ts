/** Parts that all response bodies share. */

export type Link = { readonly href: string; readonly rel: string }

/** Milliseconds since the epoch as ISO 8601 in UTC, whole seconds, with an explicit offset. */
export const time = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}+00:00`

export const times = (row: { readonly created_at: number; readonly updated_at: number | null }) => ({
  created_at: time(row.created_at),
  updated_at: row.updated_at === null ? null : time(row.updated_at),
})

/** Links contain `/accelerator` wherever the service is mounted, because every route is also served below that path. */
export const self = (base: string, collection: string, uuid: string): Link => ({
  href: `${base}/accelerator/v2/${collection}/${uuid}`,
  rel: 'self',
})
export const bookmark = (base: string, collection: string, uuid: string): Link => ({
  href: `${base}/accelerator/${collection}/${uuid}`,
  rel: 'bookmark',
})
