/**
 * Why hosts do or do not fit the groups of a device profile. Reads only: each view once, and the present state of the
 * deployables of the requested resource classes. Applies the same rules as a bind and as the content written to
 * Placement.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { DeployableUuid, EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import { arqsOf, bitstreamOf } from '../../actors/arq/groups.ts'
import type { Group } from '../../actors/arq/messages.ts'
import { chooseImage } from '../../actors/arq/images.ts'
import type { Control } from '../../actors/control.ts'
import type { DeployableTree } from '../../actors/deployable/giver.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { attributeOf, hardwareOf, traitsOf } from '../../actors/deployable/state.ts'
import { type Check, type Explanation, HOSTS_SHOWN } from '../../actors/explain/answer.ts'
import {
  type HostFacts,
  type HostJudgement,
  type OtherDevice,
  isOfInterest,
  judgeHost,
} from '../../actors/explain/host.ts'
import type { RequestedGroup } from '../../actors/explain/judge.ts'
import { summarised } from '../../actors/explain/summary.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { placement, placementKey } from '../../actors/placement/decider.ts'
import type { Kind } from '../../actors/runtime/decider.ts'
import { type AnyDecider, blank, memoryOf, recallInto } from '../../actors/runtime/memory.ts'
import type { PageCursor } from '../../actors/runtime/ports.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { createImageSearches } from '../arqs/imageSearches.ts'
import { withPlacement } from './explainInPlacement.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { unknownHost } from '../retirement/retirement.ts'

/** How many entities are read from the journal at once. */
const READ_MAX = 256
/** How many rows of a view are read at once. */
const ROWS_AT_ONCE = 1000
/** How many hosts are judged before other work gets a turn. */
const HOSTS_AT_ONCE = 32
/** The longest time for which this computation holds up other work, approximately. */
const SLICE_MS = 10

/** The present states of these entities, read without creating actors, because each is needed once. */
const createStates = ({ journal, guard }: Kernel) => {
  const read = async (keys: readonly EntityKey[]) => done(await journal.recall(keys.map((key) => ({ key, after: 0 }))))
  return async <State>(
    decider: AnyDecider & Kind<State>,
    keys: readonly EntityKey[],
  ): Promise<Outcome<readonly State[]>> => {
    const found: State[] = []
    for (let at = 0; at < keys.length; at += READ_MAX) {
      const some = keys.slice(at, at + READ_MAX)
      const recalled = await guard(read(some), 'journal')
      if (!recalled.ok) return recalled
      for (const key of some)
        found.push(memoryOf(decider, recallInto(decider, blank(key, decider), recalled.value.get(key)))!.state)
      await turn()
    }
    return done(found)
  }
}

/** The image of each group, chosen as a bind would choose it. */
const createRequestedGroups =
  ({ images }: Kernel) =>
  async (groups: readonly Group[]): Promise<Outcome<readonly RequestedGroup[]>> => {
    const searches = createImageSearches(images)
    const wanted = groups.map(bitstreamOf)
    for (const { search } of wanted) if (search) searches.resultOf(search)
    const refused = await searches.lookUp()
    if (refused && refused.fault.kind !== 'conflict') return refused
    const why = refused?.fault.kind === 'conflict' ? refused.fault.reason : null
    const asked = groups.map((group, at): RequestedGroup => {
      const { image, search } = wanted[at]!
      const found = search && searches.resultOf(search)
      const arqs = Array.from({ length: arqsOf(group) ?? 0 }, (_, n) => `${at}.${n}`)
      if (!search) return { group, arqs, imageFor: () => ({ bitstream: image }) }
      if (!found?.found) return { group, arqs, imageFor: () => ({ refusal: why ?? 'the images cannot be read' }) }
      return {
        group,
        arqs,
        imageFor: (held) => {
          const chosen = chooseImage(search, found, hardwareOf(held))
          return chosen.ok ? { bitstream: chosen.image.uuid } : { refusal: chosen.reason }
        },
      }
    })
    return done(asked)
  }

/** Only a root deployable can be bound (R4); it may use the handles of the deployables below it. */
type Rows = {
  readonly roots: ReadonlyMap<HostName, readonly Row<'deployables'>[]>
  readonly below: ReadonlyMap<DeployableUuid | null, readonly Row<'deployables'>[]>
}
const attributed = ({ attributes }: Row<'deployables'>) => ({
  attributes: (attributes as readonly Readonly<Record<string, string>>[]).flatMap((one) =>
    Object.entries(one).map(([key, value]) => ({ key, value })),
  ),
})
const otherOf = (row: Row<'deployables'>): OtherDevice => ({
  deployable: row.uuid,
  device: row.device_uuid,
  provider: row.rp_uuid!,
  name: row.name,
  resourceClass: attributeOf(attributed(row), 'rc'),
  traits: traitsOf(attributed(row)),
})

const createFacts = (kernel: Kernel) => {
  const states = createStates(kernel)
  const { options, placement: port } = kernel
  return async (
    names: readonly HostName[],
    { roots: rows, below }: Rows,
    asked: readonly RequestedGroup[],
  ): Promise<Outcome<readonly HostFacts[]>> => {
    const all = names.flatMap((name) => rows.get(name) ?? [])
    const near = all.filter((row) => isOfInterest(asked, attributed(row)))
    const nodes = near.flatMap(({ uuid }) => below.get(uuid) ?? [])
    const held = await states(
      deployable,
      [...near, ...nodes].map(({ uuid }) => deployableKey(uuid)),
    )
    if (!held.ok) return held
    const hosts = await states(host, names.map(hostKey))
    if (!hosts.ok) return hosts
    const records = await states(placement, port ? names.map(placementKey) : [])
    if (!records.ok) return records
    const read = new Set(near)
    const known = held.value.filter(({ exists, presence }) => exists && presence !== 'retired')
    const trees = Map.groupBy(known, ({ tree }) => tree?.rootUuid)
    const whole = (trees.get(undefined) ?? []).map((root): DeployableTree => ({
      root,
      below: trees.get(root.uuid) ?? [],
    }))
    const byHost = Map.groupBy(whole, ({ root }) => root.host)
    return done(
      names.map((name, at) => ({
        name,
        host: hosts.value[at]!,
        placement: port && { silent: options.reserveSilent, record: records.value[at]! },
        devices: byHost.get(name) ?? [],
        others: (rows.get(name) ?? []).filter((row) => !read.has(row)).map(otherOf),
      })),
    )
  }
}

const createJudgeAll = (kernel: Kernel) => {
  const { clock } = kernel
  const factsOf = createFacts(kernel)
  return async (
    names: readonly HostName[],
    rows: Rows,
    asked: readonly RequestedGroup[],
  ): Promise<Outcome<readonly HostJudgement[]>> => {
    const judged: HostJudgement[] = []
    for (let at = 0; at < names.length; at += HOSTS_AT_ONCE) {
      const facts = await factsOf(names.slice(at, at + HOSTS_AT_ONCE), rows, asked)
      if (!facts.ok) return facts
      let since = clock.monotonic()
      for (const one of facts.value) {
        judged.push(judgeHost(asked, one))
        if (clock.monotonic() - since < SLICE_MS) continue
        await turn()
        since = clock.monotonic()
      }
    }
    return done(judged)
  }
}

const nearestFirst = (one: HostJudgement, other: HostJudgement): number =>
  Number(other.shown.fits) - Number(one.shown.fits) ||
  one.distance - other.distance ||
  (one.shown.host < other.shown.host ? -1 : 1)

export const createExplain = (kernel: Kernel): Control['profiles']['check'] => {
  const { readers } = kernel
  const [requestedGroups, judgeAll] = [createRequestedGroups(kernel), createJudgeAll(kernel)]
  return async ({ groups, host: only, limit }: Check): Promise<Outcome<Explanation>> => {
    const asked = await requestedGroups(groups)
    if (!asked.ok) return asked
    const [known, listed] = [
      await whole(readers, 'hosts', only === null ? {} : { name: only }),
      await whole(readers, 'deployables', only === null ? {} : { hostname: only }),
    ]
    if (!known.ok) return known
    if (!listed.ok) return listed
    const [hosts, deployables] = [known.value, listed.value]
    if (only !== null && hosts.length === 0) return unknownHost(only)
    const names = hosts.filter(({ liveness }) => liveness !== 'removed').map(({ name }) => name)
    const [roots, nodes] = [
      deployables.filter(({ rp_uuid: provider }) => provider !== null),
      deployables.filter(({ root_uuid: root }) => root !== null),
    ]
    const rows = {
      roots: Map.groupBy(roots, ({ hostname }) => hostname),
      below: Map.groupBy(nodes, ({ root_uuid: root }) => root),
    }
    const judged = await judgeAll(names, rows, asked.value)
    if (!judged.ok) return judged
    const sorted = judged.value.toSorted(nearestFirst)
    const near = await withPlacement(kernel, asked.value, sorted.slice(0, HOSTS_SHOWN.most))
    const hostsNow = [...near.judged.toSorted(nearestFirst), ...sorted.slice(HOSTS_SHOWN.most)]
    return done(summarised(asked.value, hostsNow, near.placement, limit))
  }
}
/** All matching rows of a view, page by page: an in-process store would read them all in one turn of the event loop. */
const whole = async <N extends 'hosts' | 'deployables'>(
  { list }: Kernel['readers'],
  view: N,
  where: Parameters<typeof list<N>>[1],
): Promise<Outcome<readonly Row<N>[]>> => {
  const rows: Row<N>[] = []
  for (let after: PageCursor | undefined; ;) {
    const listed = await list(view, where, { limit: ROWS_AT_ONCE, ...(after && { after }) })
    if (!listed.ok) return listed
    rows.push(...listed.value.items)
    if (listed.value.next === null) return done(rows)
    after = listed.value.next
    await turn()
  }
}
