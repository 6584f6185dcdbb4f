/** The identifiers in orders and reports: how each is checked, and what it identifies. */
import * as v from 'valibot'
import type * as id from '../vocabulary/identifiers.ts'

const uuid = v.pipe(v.string(), v.uuid())

export const ArqUuid: v.GenericSchema<string, id.ArqUuid> = uuid
export const BootId: v.GenericSchema<string, id.BootId> = uuid
export const DeployableUuid: v.GenericSchema<string, id.DeployableUuid> = uuid
export const HandleUuid: v.GenericSchema<string, id.HandleUuid> = uuid
export const SlotUuid: v.GenericSchema<string, id.SlotUuid> = uuid
