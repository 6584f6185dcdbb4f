/** Classifies errors of kafkajs, which wraps the real cause in more general errors. */
import { messageOf, textOf } from '../../vocabulary/errorText.ts'

type Wrapped = { readonly cause?: unknown; readonly name?: string; readonly type?: string }
const DEPTH_MAX = 8

const chain = (error: unknown): readonly Wrapped[] => {
  const found: Wrapped[] = []
  for (let at = error as Wrapped | null | undefined; at instanceof Object && found.length < DEPTH_MAX;) {
    found.push(at)
    at = at.cause as Wrapped | null | undefined
  }
  return found
}

/** A setting is wrong: a retry cannot succeed until an operator changes it. */
export class Misconfigured extends Error {}

export class MissingTopic extends Misconfigured {}

export const isMissing = (error: unknown): error is MissingTopic => error instanceof MissingTopic
/** A reachable broker gave no answer, and kafkajs does not report the cause. */
export class Unanswered extends Error {}

/**
 * Message of the plain `Error` that kafkajs throws when a broker accepts the connection but never answers the
 * ApiVersions request.
 */
const MUTE = 'Broker not connected'
/** Whether the error comes from kafkajs. */
export const isOfClient = (error: unknown): boolean =>
  error instanceof Unanswered ||
  (error instanceof Error && (error.name.startsWith('KafkaJS') || error.message === MUTE))
export const isRefused = (error: unknown): boolean =>
  chain(error).some(
    ({ name, type }) => name === 'KafkaJSSASLAuthenticationError' || type === 'UNSUPPORTED_SASL_MECHANISM',
  )
export const isMissingTopic = (error: unknown): boolean =>
  chain(error).some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION')
/**
 * Errors for a partition that was just made or moved: this broker does not know its leader yet, but other brokers do,
 * and this one will soon.
 */
const LEADER_UNKNOWN: ReadonlySet<unknown> = new Set(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE'])
export const isLeaderUnknown = (error: unknown): boolean => chain(error).some(({ type }) => LEADER_UNKNOWN.has(type))
/** Answers of a broker about the messages themselves: the same messages are refused each time. */
const NEVER_TAKEN: ReadonlySet<unknown> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'POLICY_VIOLATION',
  'INVALID_RECORD',
])
export const isUnpublishable = (error: unknown): boolean => chain(error).some(({ type }) => NEVER_TAKEN.has(type))
export const isMisconfigured = (error: unknown): boolean => error instanceof Misconfigured || isRefused(error)

/**
 * kafkajs hides the cause of this error. A reachable broker knows a coordinator for every group that the user may read
 * or describe.
 */
const NO_COORDINATOR = 'Failed to find group coordinator'
/** The message of the innermost error, which names the real cause. */
export const reasonOf = (error: unknown): string => {
  const inner = chain(error).findLast((each) => each instanceof Error) ?? error
  const text = textOf(inner)
  return text.includes(NO_COORDINATOR) ? `${text}: no right to the group, or its broker is away` : text
}
export const missingTopic = (topic: string, brokers: readonly string[]): MissingTopic =>
  new MissingTopic(`there is no topic ${topic} on Kafka at ${brokers.join(', ')}: accelerando topic create makes it`)

/**
 * Kafka reports a reason for each topic; the outer error of kafkajs has none, so the reasons of the topics are
 * returned.
 */
export const reasonsOf = (error: unknown): string => {
  const { errors } = error as { readonly errors?: readonly { readonly message: string }[] }
  return errors === undefined ? messageOf(error) : [...new Set(errors.map(({ message }) => message))].join('; ')
}

/**
 * Whether there are too few brokers for the replicas. One that was away for a moment is listed, and not counted by the
 * controller until it has reported again.
 */
export const isTooFewBrokers = (error: unknown): boolean => {
  const { errors = [] } = error as { readonly errors?: readonly { readonly type?: string }[] }
  return errors.some(({ type }) => type === 'INVALID_REPLICATION_FACTOR')
}
