/** `accelerando start`: runs the whole system in one process. */
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { openLog } from '../logger.ts'
import { bundles } from '../operators/bundles.ts'

export const start: Register = (program) => {
  addFlags(
    program
      .command('start')
      .description('Runs the whole service in one process.')
      .example('accelerando start --demo', 'accelerando start --data /var/lib/accelerando --listen 127.0.0.1:6666'),
    PROGRAM_FLAGS.start,
  ).action(
    withPlainErrors(async (flags: Flags) => {
      const config = configured(flags)
      if (!config) return
      const [{ run }, log] = await Promise.all([import('../programs/run.ts'), openLog(config.log)])
      await run(config, log, out, bundles)
    }),
  )
}
