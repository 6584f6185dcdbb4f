/** Checks of the brokers: topics, consumer groups and dead letters. */
import type { KafkaFacts } from '../../bus/kafka/inspect.ts'
import type { Check } from './check.ts'
import { counted, listed, ok, problem, warning } from './check.ts'

const LAG = { warn: 1000, bad: 100_000 }

const brokers: Check<KafkaFacts> = {
  name: 'kafka',
  judge: (facts) => ok(`${counted(facts.brokers.length, 'broker')}: ${listed(facts.brokers)}`),
}

const topics: Check<KafkaFacts> = {
  name: 'topics',
  judge: (facts) => {
    const missing = facts.topics.filter(({ state }) => state === 'missing').map(({ topic }) => topic)
    if (missing.length > 0)
      return problem(
        `${missing.length} of ${facts.topics.length} missing: ${listed(missing)}`,
        'run accelerando topic create',
      )
    return ok(`all ${facts.topics.length} exist`)
  },
}

/** One finding for each kind of difference, because the advice depends on the kind. */
const differing = (what: string, isBad: boolean): Check<KafkaFacts> => ({
  name: `topics: ${what}`,
  judge: (facts) => {
    const found = facts.topics.flatMap(({ topic, differences }) =>
      differences.filter((each) => each.what === what).map((each) => ({ topic, ...each })),
    )
    if (found.length === 0) return null
    const says = listed(found.map(({ topic, is, wanted }) => `${topic} has ${is}, not ${wanted}`))
    return (isBad ? problem : warning)(says, found[0]!.advice)
  },
})

const copies: Check<KafkaFacts> = {
  name: 'copies',
  judge: ({ found }) => {
    const leaderless = found.filter((topic) => topic.leaderless > 0).map(({ topic }) => topic)
    const behind = found.filter((topic) => topic.behind > 0).map(({ topic }) => topic)
    if (leaderless.length > 0)
      return problem(`partitions without a leader: ${listed(leaderless)}`, 'start the brokers that are down')
    return behind.length > 0
      ? warning(`replicas are missing or behind: ${listed(behind)}`, 'a broker is down or slow: check the brokers')
      : ok('all in sync')
  },
}

const writable: Check<KafkaFacts> = {
  name: 'writable',
  judge: ({ found, brokers: all }) => {
    const stuck = found.filter(({ configs }) => Number(configs['min.insync.replicas'] ?? 1) > all.length)
    return stuck.length === 0
      ? ok('enough brokers for min.insync.replicas')
      : problem(
          `min.insync.replicas is above the number of brokers (${all.length}): ${listed(stuck.map(({ topic }) => topic))}`,
          'nothing can be published there: start the other brokers, or lower it with accelerando topic create --apply',
        )
  },
}

const consumers: Check<KafkaFacts> = {
  name: 'controls',
  judge: ({ groups: { control, lag } }) => {
    // Without the topic there is no consumer group to check, and the missing topic is already reported.
    if (lag === null) return null
    const behind = lag.reduce((sum, each) => sum + each.behind, 0)
    const where = lag.filter((each) => each.behind > 0).map((each) => `partition ${each.partition}: ${each.behind}`)
    const late = behind === 0 ? 'all reports consumed' : `reports not consumed: ${behind} (${listed(where)})`
    const says = `${counted(control.members.length, 'member')} in group ${control.group} (${control.state}), ${late}`
    if (control.members.length === 0) return problem(says, 'no control consumes the reports of hosts: start one')
    if (behind >= LAG.bad) return problem(says, 'the controls are too slow: add one, and check the database')
    return behind >= LAG.warn ? warning(says, 'check again later: if it grows, add a control') : ok(says)
  },
}

const hostGroups: Check<KafkaFacts> = {
  name: 'host groups',
  judge: ({ groups: { hosts, leftOver } }) => {
    const live = hosts.filter(({ members }) => members.length > 0).length
    return leftOver.length === 0
      ? ok(`${live} with a host, none left over`)
      : warning(
          `${live} with a host, ${leftOver.length} left over: ${listed(leftOver)}`,
          'harmless; accelerando doctor --mend deletes them, else the broker does after offsets.retention.minutes',
        )
  },
}

const deadLetters: Check<KafkaFacts> = {
  name: 'dead letters',
  judge: (facts) =>
    facts.deadLetters === 0
      ? ok('none')
      : warning(
          `${counted(facts.deadLetters, 'message')} on the topic`,
          'see accelerando dead-letter list; when the cause is mended, accelerando dead-letter retry',
        ),
}

export const KAFKA_CHECKS: readonly Check<KafkaFacts>[] = [
  brokers,
  topics,
  differing('partitions', true),
  differing('replicas', false),
  differing('cleanup.policy', true),
  differing('retention.ms', false),
  differing('min.insync.replicas', false),
  differing('compression.type', false),
  copies,
  writable,
  consumers,
  hostGroups,
  deadLetters,
]
