/**
 * The controls of one cloud share a consumer group, so two clouds with the same brokers and prefix would take reports from each other.
 * A control names its cloud to the broker, and does not join where a control of another cloud is a member. Controls up to release 0.2.0 do not name theirs.
 */
import { membersOf } from '../../bus/kafka/groups.ts'
import { lookup } from '../../bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Log } from '../../log.ts'
import { CONTROL_GROUP } from '../../wire/catalogue.ts'
import { StartProblem } from './startProblem.ts'

const MARK = '@'
export const clientIdIn = (cloud: string, pid: number): string => `accelerando-control-${pid}${MARK}${cloud}`
const cloudOf = (clientId: string): string | null => {
  const at = clientId.lastIndexOf(MARK)
  return at < 0 ? null : clientId.slice(at + MARK.length)
}

/** Pure: why a control of this cloud does not join a group with these members; null: it may. */
export const foreignMember = (
  members: readonly string[],
  cloud: string,
  { brokers, prefix }: Pick<KafkaOptions, 'brokers' | 'prefix'>,
): string | null => {
  const foreign = members.find((member) => ![null, cloud].includes(cloudOf(member)))
  if (foreign === undefined) return null
  return (
    `another cloud (${cloudOf(foreign)}) uses the topics at ${brokers.join(', ')} with the prefix "${prefix}", and this is cloud ${cloud}: ` +
    'set kafka.prefix to another one for each cloud'
  )
}

/** Rejects with a `StartProblem`. */
export const expectOwnGroup = async (kafka: KafkaOptions, cloud: string, log: Log): Promise<void> => {
  const members = await lookup(kafka, log).asking((admin) => membersOf(admin, kafka.prefix + CONTROL_GROUP))
  const refused = foreignMember(members, cloud, kafka)
  if (refused !== null) throw new StartProblem(refused)
}
