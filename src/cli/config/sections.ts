/**
 * The validated values of all options. Each row of the table fills one field here, and each field has exactly one row.
 */
import type { RegionOptions } from '../../actors/runtime/region.ts'
import type { ControlOptions } from '../../services/kernel/kernel.ts'
import type { EventLimits } from '../../delivery/events/options.ts'
import type { Options as HttpOptions } from '../../http/options.ts'
import type { MeasuringPrograms } from '../../drivers/programs.ts'
import type { GlanceOptions } from '../../neighbours/images/glance.ts'
import type { FilesOptions } from '../../neighbours/images/glanceFiles.ts'
import type { Address } from './kinds.ts'

export type Sections = {
  readonly program: {
    readonly listen: Address
    readonly adminListen: Address
    readonly uiListen: Address
    readonly data: string
    readonly config: string | null
    readonly images: string | null
    readonly enabledDrivers: readonly string[]
    readonly noauthAnywhere: boolean
    readonly tour: boolean
    /** Opens paths on the admin listener with which tests cause failures. */
    readonly testDoors: boolean
    /** Null: the operator has not chosen how callers are authenticated. */
    readonly auth: 'noauth' | 'keystone' | null
    /** Always 0 outside tests. */
    readonly clockOffsetMs: number
  }
  readonly demo: {
    readonly mixed: boolean
    readonly hosts: number | null
    readonly devices: number | null
    readonly handles: number | null
    readonly hostWork: boolean
    readonly seed: string
  }
  readonly log: {
    readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
    readonly pretty: 'auto' | 'always' | 'never'
  }
  readonly http: Omit<HttpOptions, 'compat' | 'policy' | 'anyHost'>
  readonly compat: HttpOptions['compat']
  readonly policy: { readonly enforceNewDefaults: boolean; readonly file: string | null }
  readonly control: ControlOptions
  readonly region: RegionOptions
  /** Null: nothing is archived automatically. */
  readonly archive: { readonly endedMs: number | null }
  readonly events: EventLimits
  readonly host: {
    readonly name: string | null
    readonly aliases: readonly string[]
    readonly reportEveryMs: number
    readonly heartbeatEveryMs: number
    readonly measureEveryMs: number
  }
  /** Null: there are no playbooks. */
  readonly playbooks: { readonly dir: string | null; readonly program: string; readonly limitMs: number }
  readonly pci: {
    readonly whitelist: unknown
    readonly sysfsRoot: string
    readonly check: boolean
    readonly virtualFunctions: Readonly<Record<string, number>>
  }
  /** The file with additional rows, by the operator, for the table of known cards. */
  readonly cards: { readonly table: string | null }
  /** The file with the cleaning policies. */
  readonly cleaning: { readonly file: string | null }
  readonly gpu: {
    readonly types: readonly string[]
    readonly addresses: Readonly<Record<string, readonly string[]>>
    readonly most: Readonly<Record<string, number>>
    readonly withoutVfs: boolean
  }
  readonly nic: { readonly networks: readonly string[]; readonly functions: readonly string[] }
  readonly fpga: { readonly fpgaconf: string; readonly xrtFolder: string; readonly withManagement: boolean }
  readonly measuring: MeasuringPrograms
  readonly spdk: { readonly socket: string }
  readonly fake: { readonly devices: number; readonly handles: number; readonly hostWork: boolean }
  readonly nova: {
    readonly url: string | null
    readonly timeoutMs: number
    readonly headers: Readonly<Record<string, string>>
    readonly tokenFile: string | null
  }
  readonly placement: {
    /** If the service is part of a cloud: whether its inventory is written to Placement. */
    readonly enabled: boolean
  }
  readonly keystone: {
    readonly authUrl: string | null
    readonly challengeUrl: string | null
    readonly username: string | null
    readonly password: string | null
    readonly userDomain: string | null
    readonly project: string | null
    readonly projectDomain: string | null
    readonly userId: string | null
    readonly userDomainId: string | null
    readonly projectId: string | null
    readonly projectDomainId: string | null
    readonly credentialId: string | null
    readonly credentialSecret: string | null
    readonly region: string | null
    readonly interfaces: readonly string[]
    readonly caFile: string | null
    readonly timeoutMs: number
    readonly cacheMs: number
    readonly cacheEntries: number
    readonly cloud: string | null
    readonly cloudsFile: string
  }
  readonly glance: GlanceOptions & Omit<FilesOptions, 'pauses'>
  readonly postgres: {
    readonly url: string | null
    readonly statementTimeoutMs: number
    readonly readers: number
  }
  readonly kafka: {
    readonly brokers: readonly string[] | null
    readonly prefix: string
    readonly tls: boolean
    readonly caFile: string | null
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' | null
    readonly username: string | null
    readonly password: string | null
  }
  readonly topics: {
    readonly partitions: number
    readonly replicas: number
    /** Null: each topic has its own default retention. */
    readonly retentionMs: number | null
    /** The program creates missing topics when it starts. */
    readonly create: boolean
  }
}

type Paths = { readonly [S in keyof Sections]: `${S}.${keyof Sections[S] & string}` }
/** A field of a section, written like `control.bindDeadlineMs`. */
export type Path = Paths[keyof Sections]
/** The type of the field that a path names. */
export type At<P extends Path> = P extends `${infer S extends keyof Sections}.${infer F}`
  ? F extends keyof Sections[S]
    ? Sections[S][F]
    : never
  : never
