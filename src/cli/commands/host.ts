/** `accelerando host`. */
import { type Flags, type Register, configured, lacking, out, withPlainErrors } from '../command.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { openLog } from '../logger.ts'
import { untilEnded } from '../programs/untilEnded.ts'

export const host: Register = (program) => {
  addFlags(
    program.command('host').description('Manages the devices of this machine, with orders received over Kafka.'),
    PROGRAM_FLAGS.host,
  ).action(
    withPlainErrors(async (flags: Flags) => {
      const config = configured(flags)
      if (!config || lacking('host', config)) return
      const log = await openLog(config.log)
      await untilEnded(log, { '--admin-listen': config.adminListen }, async () => {
        const { startHostProgram } = await import('../programs/host.ts')
        const running = await startHostProgram({ ...config, kafka: config.kafka! }, log)
        out(`ready ${running.name}`)
        return running
      })
    }),
  )
}
