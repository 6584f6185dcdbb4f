/** `accelerando control`: runs a control process. */
import { type Flags, type Register, configured, lacking, out, withPlainErrors } from '../command.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { openLog } from '../logger.ts'
import { bundles } from '../operators/bundles.ts'
import { listensOf, untilEnded } from '../programs/untilEnded.ts'

export const control: Register = (program) => {
  addFlags(
    program
      .command('control')
      .description('Answers the API, as one of several processes that share one PostgreSQL and one Kafka.')
      .example(
        'accelerando control --database postgresql://accelerando@db/accelerando --kafka kafka-1:9092 --auth keystone',
      ),
    PROGRAM_FLAGS.control,
  ).action(
    withPlainErrors(async (flags: Flags) => {
      const config = configured(flags)
      if (!config || lacking('control', config)) return
      const log = await openLog(config.log)
      const { database, kafka } = config
      await untilEnded(log, listensOf(config), async () => {
        const { startControl } = await import('../programs/control.ts')
        const running = await startControl({ ...config, database: database!, kafka: kafka! }, log, bundles)
        out(`ready ${running.base}`)
        return running
      })
    }),
  )
}
