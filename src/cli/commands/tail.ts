/** `accelerando tail`: shows messages as they come, one line each. */
import { misused } from '../exits.ts'
import { isUuid } from '../../uuid.ts'
import { join } from 'node:path'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import type { Config } from '../config/config.ts'
import { addFlags } from '../config/flags.ts'
import type { Key } from '../config/table.ts'
import { openLog } from '../logger.ts'
import type { TailSource } from '../operators/tail.ts'
import { untilAsked } from '../untilAsked.ts'

const TAIL_FLAGS: readonly Key[] = ['kafka.brokers', 'kafka.prefix', 'database', 'data', 'config', 'log.level']
const POSITION = /^\d+(\.\d+)?$/

type Given = {
  readonly arq?: string
  readonly since?: string
  readonly json?: true
  readonly once?: true
}
const sourceOf = ({ kafka, database, data }: Config): TailSource => {
  if (kafka) return { kind: 'kafka', kafka }
  const store = database
    ? ({ kind: 'postgres', url: database.url } as const)
    : ({ kind: 'pglite', dir: join(data, 'store') } as const)
  return { kind: 'journal', store }
}
const checked = ({ arq, since }: Given): void => {
  if (arq !== undefined && !isUuid(arq)) throw misused(`--arq: must be a UUID, and is ${arq}`)
  if (since !== undefined && !POSITION.test(since))
    throw misused(`--since: must be a position as tail shows it behind @, and is ${since}`)
}
export const tail: Register = (program) => {
  addFlags(
    program
      .command('tail')
      .description(
        'Shows what happens, one line per message: from the topics, or from the journal when no Kafka is given.',
      )
      .example('accelerando tail --kafka kafka-1:9092', 'accelerando tail arq.events --once --json')
      .argument('[topic]', 'one topic, such as arq.events; without it all on which facts are told'),
    TAIL_FLAGS,
  )
    .option('--arq <UUID>', 'only messages that name this accelerator request')
    .option('--since <POSITION>', 'only messages after this position, as shown behind @')
    .option('--json', 'one JSON object per line')
    .option('--once', 'end when all existing messages were shown')
    .action(
      withPlainErrors(async (topic: string | undefined, flags: Flags) => {
        const given = flags as Given
        checked(given)
        const config = configured(flags)
        if (!config) return
        const options = {
          topic: topic ?? null,
          arq: given.arq ?? null,
          since: given.since ?? null,
          json: given.json ?? false,
          once: given.once ?? false,
        }
        const work = await import('../operators/tail.ts')
        await work.tail(sourceOf(config), options, out, untilAsked(), await openLog(config.log))
      }),
    )
}
