/** What tests ask of the scripted broker of their lab over a connection of its own. */
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { type kafkaLab, optionsOf, REPORTS } from '../support/kafkaLab.ts'

/** The error with which the work fails. */
export const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it worked'),
    (error: Error) => error,
  )

export const askingOf = (lab: ReturnType<typeof kafkaLab>) => {
  const ask = (more: Partial<KafkaOptions> = {}) => lookup(optionsOf(lab.broker, more), silent)
  const partitions = (more: Partial<KafkaOptions> = {}): Promise<number> =>
    ask(more).asking((_admin, questions) => questions.partitions(REPORTS))
  return { ask, partitions }
}
