/**
 * What identifies what. All are text. The flavour exists only for the compiler: it takes plain text for any identifier, so that input
 * which has been checked needs no cast, but it does not take the identifier of one thing for the identifier of another.
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
export type ProfileUuid = Flavoured<'ProfileUuid'>
export type ResourceProviderUuid = Flavoured<'ResourceProviderUuid'>
/** What an order is about: an attach handle, or a whole deployable. */
export type SlotUuid = HandleUuid | DeployableUuid
/** Any name of a host: the one it reports under, or another under which Nova knows it. */
export type HostName = Flavoured<'HostName'>
export type ProjectId = Flavoured<'ProjectId'>
/** One run of a host program. */
export type BootId = Flavoured<'BootId'>

declare const kind: unique symbol
/** The key of an entity in the journal, `<kind>/<id>`; `Kind` says whose key it is, where that is known. */
export type EntityKey<Kind extends string = string> = Flavoured<'EntityKey'> & { readonly [kind]?: Kind }
