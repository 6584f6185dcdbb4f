/**
 * What must hold of Placement when all faults are over: what is recorded stands there, and nothing of others was
 * touched.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import type { PlacementSeen } from '../../src/audit/evidence.ts'
import { type Client, insist } from '../kill/life.ts'
import { type Shown, providersSeen, shownOf, writesSeen } from '../support/placementSeen.ts'
import type { Openstack } from './openstack.ts'
import { HOSTS } from './plan.ts'
import type { PlacementUse } from './placementUse.ts'

/** A pass of a control that was killed is over after 60 s, by a clock that is up to 10 s wrong; and what L3 gives. */
const IN_STEP_MS = 150_000
const LOOK_MS = 1000

export const foreignDiffer = (before: Shown, after: Shown): readonly string[] =>
  [...before].flatMap(([uuid, was]) =>
    after.get(uuid) === was
      ? []
      : [`provider ${uuid} is not ours, and was changed from ${was} to ${after.get(uuid) ?? 'nothing'}`],
  )

type Entry = { readonly kind: string }
type HostDrift = {
  readonly host: string
  readonly trouble: object | null
  readonly entries: readonly Entry[]
}
/** The load binds most instances without an allocation: that is how it stands, and nothing that could be repaired. */
const KNOWN = 'arq_without_allocation'
export const driftIn = (drift: readonly HostDrift[], hosts: readonly string[]): readonly string[] => [
  ...hosts
    .filter((name) => !drift.some(({ host }) => host === name))
    .map((name) => `nothing is said of ${name} in Placement`),
  ...drift.flatMap(({ host, trouble, entries }) =>
    [...(trouble === null ? [] : [trouble]), ...entries.filter(({ kind }) => kind !== KNOWN)].map(
      (one) => `${host} differs in Placement: ${JSON.stringify(one)}`,
    ),
  ),
]

/** What still differs when nothing has to any more. */
const stillDiffers = async (client: Client): Promise<readonly string[]> => {
  for (const until = Date.now() + IN_STEP_MS; ; await sleep(LOOK_MS)) {
    const { status, body } = await insist(client, () => client.api.call('GET', '/drift'))
    const differs =
      status === 200
        ? driftIn(body['drift'] as readonly HostDrift[], HOSTS)
        : [`GET /v2/drift is answered ${status}: ${JSON.stringify(body)}`]
    if (differs.length === 0 || Date.now() > until) return differs
  }
}

/** For S11 and L3. */
export const placementSeen = async ({ lab, foreign, asked }: Openstack): Promise<PlacementSeen> => ({
  providers: await providersSeen(lab.placement, HOSTS),
  writes: writesSeen(asked, new Set(foreign.keys())),
  reserveSilent: CONTROL_DEFAULTS.reserveSilent,
})

/** After all faults, when the load is over. */
export const judgePlacement = async (
  { lab, foreign, asked }: Openstack,
  client: Client,
  use: PlacementUse,
): Promise<readonly string[]> => {
  await use.stop()
  const kept = await use.releaseGone()
  const differs = await stillDiffers(client)
  return [
    ...kept.map((instance) => `the allocation of ${instance} could not be ended`),
    ...differs,
    ...foreignDiffer(foreign, await shownOf(lab, [...foreign.keys()])),
    ...(writesSeen(asked, new Set()).length === 0 ? ['nothing was ever written to Placement'] : []),
  ]
}
