/** What an error of kafkajs means: it wraps, and its outer name says little. */
import { textOf } from '../../errorText.ts'

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

/** A setting is wrong: trying again is of no use until somebody changes it. */
export class Misconfigured extends Error {}

export class MissingTopic extends Misconfigured {}

export const isMissing = (error: unknown): error is MissingTopic => error instanceof MissingTopic
/** A broker that was there gave no answer, and kafkajs does not say why. */
export class Unanswered extends Error {}

/** What kafkajs says, in a plain error, of a broker that took the connection and never told which requests it knows. */
const MUTE = 'Broker not connected'
/** Thrown by kafkajs, not by us. */
export const isOfClient = (error: unknown): boolean =>
  error instanceof Unanswered ||
  (error instanceof Error && (error.name.startsWith('KafkaJS') || error.message === MUTE))
export const isRefused = (error: unknown): boolean =>
  chain(error).some(
    ({ name, type }) => name === 'KafkaJSSASLAuthenticationError' || type === 'UNSUPPORTED_SASL_MECHANISM',
  )
export const isMissingTopic = (error: unknown): boolean =>
  chain(error).some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION')
export const isMisconfigured = (error: unknown): boolean => error instanceof Misconfigured || isRefused(error)

/** The innermost sentence: there the reason is. */
export const reasonOf = (error: unknown): string => {
  const inner = chain(error).findLast((each) => each instanceof Error) ?? error
  return textOf(inner)
}
export const missingTopic = (topic: string, brokers: readonly string[]): MissingTopic =>
  new MissingTopic(`there is no topic ${topic} on Kafka at ${brokers.join(', ')}: accelerando topics create makes it`)
