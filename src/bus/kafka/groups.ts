/** The consumer groups of the controls and hosts on the broker: their members and their lag. */
import type { Admin, GroupDescription } from 'kafkajs'

export type PartitionLag = {
  readonly partition: number
  readonly behind: number
  /** No offset was ever committed: the group would start at the oldest message. */
  readonly never: boolean
}
export type GroupFacts = {
  readonly group: string
  /** The broker's name of the state: Stable, Empty, PreparingRebalance, CompletingRebalance, Dead. */
  readonly state: string
  readonly members: readonly string[]
}
export type GroupsFacts = {
  readonly control: GroupFacts
  /** Null: the topic does not exist. */
  readonly lag: readonly PartitionLag[] | null
  /** Groups of hosts, one for each start of a host. */
  readonly hosts: readonly GroupFacts[]
  /** Groups without members that will not be used again. */
  readonly leftOver: readonly string[]
}

const AT_ONCE = 200
/**
 * A host uses a new group at each start, and so does each command that reads topics: these groups are used only once.
 */
const USED_ONCE = /^(host|reader)-/

const factsOf = ({ groupId, state, members }: GroupDescription): GroupFacts => ({
  group: groupId,
  state,
  members: members.map(({ clientId, clientHost }) => `${clientId} at ${clientHost.replace(/^\//, '')}`),
})

/** Returns the client ids of the members; none if the group does not exist. */
export const membersOf = async (admin: Admin, group: string): Promise<readonly string[]> => {
  const { groups } = await admin.describeGroups([group])
  return groups.flatMap(({ members }) => members.map(({ clientId }) => clientId))
}

const describe = async (admin: Admin, groups: readonly string[]): Promise<readonly GroupFacts[]> => {
  const found: GroupFacts[] = []
  for (let from = 0; from < groups.length; from += AT_ONCE) {
    const part = await admin.describeGroups(groups.slice(from, from + AT_ONCE))
    found.push(...part.groups.map(factsOf))
  }
  return found
}

type At = { readonly partition: number; readonly offset: string }
/** Pure. Without a committed offset, the lag is all messages that the partition still holds. */
export const lagsOf = (
  ends: readonly (At & { readonly low: string })[],
  committed: readonly At[],
): readonly PartitionLag[] => {
  const at = new Map(committed.map(({ partition, offset }) => [partition, Number(offset)]))
  return ends
    .map(({ partition, offset, low }) => {
      const place = at.get(partition) ?? -1
      const never = place < 0
      return { partition, behind: Math.max(0, Number(offset) - Math.max(place, Number(low))), never }
    })
    .toSorted((a, b) => a.partition - b.partition)
}

const lagOf = async (admin: Admin, groupId: string, topic: string): Promise<readonly PartitionLag[] | null> => {
  if (!(await admin.listTopics()).includes(topic)) return null
  const [ends, committed] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    admin.fetchOffsets({ groupId, topics: [topic] }),
  ])
  return lagsOf(ends, committed[0]?.partitions ?? [])
}

export const surveyGroups = async (
  admin: Admin,
  prefix: string,
  control: { readonly group: string; readonly topic: string },
): Promise<GroupsFacts> => {
  const { groups } = await admin.listGroups()
  const usedOnce = groups
    .map(({ groupId }) => groupId)
    .filter((id) => id.startsWith(prefix) && USED_ONCE.test(id.slice(prefix.length)))
  const once = await describe(admin, usedOnce)
  const [own] = await describe(admin, [prefix + control.group])
  return {
    control: own!,
    lag: await lagOf(admin, prefix + control.group, prefix + control.topic),
    hosts: once.filter(({ group }) => group.startsWith(`${prefix}host-`)),
    leftOver: once.filter(({ state }) => state === 'Empty').map(({ group }) => group),
  }
}

/** `reason`: why the group was not deleted; null: it was. */
export type Gone = { readonly group: string; readonly reason: string | null }
type Refusal = { readonly message: string; readonly groups?: readonly { groupId: string; error?: Error }[] }

/** For each group that was not deleted, the reason. */
const refusals = async (admin: Admin, groups: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  try {
    const done = new Set((await admin.deleteGroups([...groups])).map(({ groupId }) => groupId))
    return new Map(
      groups.filter((group) => !done.has(group)).map((group) => [group, 'the broker did not report it as deleted']),
    )
  } catch (error) {
    // an error with `groups` names those that the broker refused; without it, nothing is known about any of them
    const { message, groups: refused } = error as Refusal
    const left = refused ?? groups.map((groupId) => ({ groupId, error: undefined }))
    return new Map(left.map(({ groupId, error: own }) => [groupId, own?.message ?? message]))
  }
}

/** Deletes the groups. The broker refuses to delete a group that has members again. */
export const deleteGroups = async (admin: Admin, groups: readonly string[]): Promise<readonly Gone[]> => {
  const gone: Gone[] = []
  for (let from = 0; from < groups.length; from += AT_ONCE) {
    const part = groups.slice(from, from + AT_ONCE)
    const reasons = await refusals(admin, part)
    gone.push(...part.map((group) => ({ group, reason: reasons.get(group) ?? null })))
  }
  return gone
}
