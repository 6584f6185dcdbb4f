/**
 * The controls of one cloud share a consumer group. Two clouds with the same brokers and prefix would therefore receive
 * each other's reports. A control names its cloud to the broker, and does not join a group with a control of another
 * cloud. Controls up to release 0.2.0 do not name theirs.
 */
import { membersOf } from '../../bus/kafka/groups.ts'
import { lookup } from '../../bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Log } from '../../vocabulary/log.ts'
import { CONTROL_GROUP } from '../../wire/catalogue.ts'
import { StartProblem } from './startProblem.ts'

const MARK = '@'
export const clientIdIn = (cloud: string, pid: number): string => `accelerando-control-${pid}${MARK}${cloud}`
const cloudOf = (clientId: string): string | null => {
  const at = clientId.lastIndexOf(MARK)
  return at < 0 ? null : clientId.slice(at + MARK.length)
}

/** Pure: why a control of this cloud must not join a group with these members; null: it may join. */
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

/** Rejects with a `StartProblem` if the group has a control of another cloud. */
export const expectOwnGroup = async (kafka: KafkaOptions, cloud: string, log: Log): Promise<void> => {
  const members = await lookup(kafka, log).asking((admin) => membersOf(admin, kafka.prefix + CONTROL_GROUP))
  const refused = foreignMember(members, cloud, kafka)
  if (refused !== null) throw new StartProblem(refused)
}
