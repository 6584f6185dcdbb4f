/** The reasons why a control refuses a report because of its sender. */

/**
 * `foreign_host`: a host answers for a deployable of another host; `former_boot`: the host program has been started
 * again since; `foreign_cluster`: the host belongs to another cloud; `doubled_host`: two programs run under the name
 * of the host; `bad_signature`: the signature does not fit; `unsigned`, `foreign_key`: not signed, or with another key
 * than that of the host; `not_approved`: no operator has approved the key of the host yet; `foreign_name`: it shows
 * devices under names that are not its own; `too_many_devices`: it shows more new devices, or more changes of them,
 * than a host may in an hour. Of these two only the devices are refused. `shared_key`: the host has no key, and shows
 * that of another host.
 */
export const REFUSALS = [
  'foreign_host',
  'former_boot',
  'foreign_cluster',
  'doubled_host',
  'bad_signature',
  'unsigned',
  'foreign_key',
  'not_approved',
  'foreign_name',
  'too_many_devices',
  'shared_key',
] as const
export type Refusal = (typeof REFUSALS)[number]
export type RefusalCounts = Record<Refusal, number>

export const noRefusals = (): RefusalCounts =>
  Object.fromEntries(REFUSALS.map((reason) => [reason, 0])) as RefusalCounts

/** A host's journal shows at most one refusal for each reason in this time, whatever is sent in its name. */
export const REFUSALS_EVERY_MS = 3_600_000
