/**
 * The types of identifiers. All are text. The flavour exists only for the compiler: plain text can be used as any
 * identifier, so that checked input needs no cast, but the identifier of one kind of thing cannot be used as that of
 * another.
 */
declare const flavour: unique symbol
type Flavoured<Name extends string> = string & { readonly [flavour]?: Name }

export type ArqUuid = Flavoured<'ArqUuid'>
export type AttributeUuid = Flavoured<'AttributeUuid'>
export type DeployableUuid = Flavoured<'DeployableUuid'>
export type DeviceUuid = Flavoured<'DeviceUuid'>
export type HandleUuid = Flavoured<'HandleUuid'>
export type ImageUuid = Flavoured<'ImageUuid'>
export type InstanceUuid = Flavoured<'InstanceUuid'>
export type LetterUuid = Flavoured<'LetterUuid'>
export type ProfileUuid = Flavoured<'ProfileUuid'>
export type ResourceProviderUuid = Flavoured<'ResourceProviderUuid'>
/** The subject of an order: an attach handle, or a whole deployable. */
export type SlotUuid = HandleUuid | DeployableUuid
/** The name of a driver, as `enabled_drivers` lists it. */
export type DriverName = Flavoured<'DriverName'>
/** The name by which the driver of a host knows a deployable. */
export type DeployableName = Flavoured<'DeployableName'>
/** Any name of a host: the one it reports under, or another under which Nova knows it. */
export type HostName = Flavoured<'HostName'>
export type ProjectId = Flavoured<'ProjectId'>
/** One run of a host program. */
export type BootId = Flavoured<'BootId'>

declare const kind: unique symbol
/** The key of an entity in the journal, `<kind>/<id>`; `Kind`: the kind of the entity, if it is known. */
export type EntityKey<Kind extends string = string> = Flavoured<'EntityKey'> & { readonly [kind]?: Kind }
