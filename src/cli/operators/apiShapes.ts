/** The parts of API documents that the commands read. */
export type Word = { readonly by: string; readonly reason: string; readonly at: string } | null
export type Host = {
  readonly name: string
  readonly liveness: string
  readonly last_seen_at: string | null
  readonly retired: Word
  readonly drivers: Readonly<Record<string, { readonly status: string; readonly error: string | null }>>
}
export type HostDetail = Host & {
  readonly aliases: readonly string[]
  readonly handles: Readonly<Record<string, number>>
  readonly arqs: readonly string[]
}
export type Handle = {
  readonly uuid: string
  readonly deployable_uuid: string
  readonly hostname: string
  readonly state: string
  readonly arq_uuid: string | null
}
export type HandleDetail = Handle & {
  readonly last_arq_uuid: string | null
  readonly order: number | null
  readonly quarantine: Word
}
export type Arq = {
  readonly uuid: string
  readonly state: string
  readonly device_profile_name: string
  readonly project_id: string | null
  readonly hostname: string | null
  readonly instance_uuid: string | null
  readonly device_rp_uuid: string | null
  readonly attach_handle_uuid: string | null
  readonly created_at: string
}
export type Timeline = {
  readonly steps: readonly {
    readonly at: string
    readonly step: string
    readonly took_ms: number | null
    readonly cause: string | null
    readonly detail: Readonly<Record<string, unknown>>
  }[]
}
export type Migration = {
  readonly applied: boolean
  readonly profiles: readonly {
    readonly uuid: string
    readonly name: string
    readonly changes: readonly { readonly group: number; readonly from: string; readonly to: string }[]
  }[]
}

export const wordLine = (word: Word): string => (word === null ? '-' : `by ${word.by} at ${word.at}: ${word.reason}`)
