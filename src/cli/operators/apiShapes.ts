/** The parts of API documents that the commands read. */
import type * as v from 'valibot'
import type { DeepReadonly } from '../../vocabulary/deepReadonly.ts'
import type { Explanation as ExplanationSchema } from '../../http/explanationSchema.ts'
import type { HostDetail as HostDetailSchema } from '../../http/hostSchema.ts'
import type { Capacity as CapacitySchema } from '../../http/routes/capacity.ts'
import type { Usage as UsageSchema } from '../../http/routes/usage.ts'
import type { DeadLetterDetail as DeadLetterDetailSchema } from '../../http/deadLetterSchema.ts'
import type { DeviceDetail as DeviceDetailSchema } from '../../http/deviceDetail.ts'
import type { Delivery as DeliverySchema, Overview as OverviewSchema } from '../../http/overviewSchemas.ts'
import type { Profile as ProfileSchema, ProfileVersion as ProfileVersionSchema } from '../../http/profileSchemas.ts'
import type {
  Healing as HealingSchema,
  HostDrift as HostDriftSchema,
  IgnoredDrift as IgnoredDriftSchema,
} from '../../http/driftSchemas.ts'
import type { System as SystemSchema } from '../../http/systemSchemas.ts'
import type { Program as ProgramSchema, ProgramDetail as ProgramDetailSchema } from '../../http/routes/programs.ts'
import type * as schemas from '../../http/schemas.ts'

type Document<Schema extends v.GenericSchema> = DeepReadonly<v.InferOutput<Schema>>
export type DeadLetterDetail = Document<typeof DeadLetterDetailSchema>
export type Deployable = Document<typeof schemas.Deployable>
export type Device = Document<typeof schemas.Device>
export type DeviceDetail = Document<typeof DeviceDetailSchema>
export type Delivery = Document<typeof DeliverySchema>
export type Overview = Document<typeof OverviewSchema>
export type Profile = Document<typeof ProfileSchema>
export type ProfileVersion = Document<typeof ProfileVersionSchema>
export type Collected = Document<typeof schemas.Collected>
export type Orphans = Document<typeof schemas.Orphans>
export type Arq = Document<typeof schemas.Arq>
export type Capacity = Document<typeof CapacitySchema>
export type Explanation = Document<typeof ExplanationSchema>
export type Handle = Document<typeof schemas.Handle>
export type HandleDetail = Document<typeof schemas.HandleDetail>
export type Host = Document<typeof schemas.Host>
export type HostDrift = Document<typeof HostDriftSchema>
export type Healing = Document<typeof HealingSchema>
export type IgnoredDrift = Document<typeof IgnoredDriftSchema>
export type HostDetail = Document<typeof HostDetailSchema>
export type Impact = Document<typeof schemas.Impact>
export type Migration = Document<typeof schemas.Migration>
export type SystemDocument = Document<typeof SystemSchema>
export type Usage = Document<typeof UsageSchema>
export type Program = Document<typeof ProgramSchema>
export type ProgramDetail = Document<typeof ProgramDetailSchema>
export type Timeline = Document<typeof schemas.Timeline>

export const noteLine = (note: Host['retired']): string =>
  note === null ? '-' : `by ${note.by} at ${note.at}: ${note.reason}`
