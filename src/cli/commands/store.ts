/** Commands for a store that no service uses: `seed` and `rebuild-views`. */
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { addFlags } from '../config/flags.ts'
import type { Key } from '../config/table.ts'
import { openLog } from '../logger.ts'

const STORE_FLAGS: readonly Key[] = ['data', 'database', 'config', 'log.level']

const seed: Register = (program) => {
  addFlags(
    program
      .command('seed')
      .description('Fills a stopped store until it has exactly N bound ARQs.')
      .example('accelerando seed --hosts 10 --devices 4 --handles 8 --arqs 300'),
    STORE_FLAGS,
  )
    .requiredOption('--hosts <N>', 'simulated hosts')
    .requiredOption('--devices <D>', 'FPGAs of each host')
    .requiredOption('--handles <K>', 'attach handles of each FPGA')
    .requiredOption('--arqs <N>', 'bound ARQs in the end')
    .option('--projects <P>', 'number of projects that own them', '1')
    .action(
      withPlainErrors(async ({ hosts, devices, handles, arqs, projects, ...flags }: Record<string, string>) => {
        const config = configured(flags)
        if (!config) return
        const { seedStore } = await import('../store/stopped.ts')
        await seedStore(config, { hosts, devices, handles, arqs, projects } as never, await openLog(config.log), out)
      }),
    )
}

const rebuildViews: Register = (program) => {
  addFlags(
    program
      .command('rebuild-views')
      .description('Drops the views of a stopped store and rebuilds them from the journal.')
      .example('accelerando rebuild-views --data ./data'),
    STORE_FLAGS,
  ).action(
    withPlainErrors(async (flags: Flags) => {
      const config = configured(flags)
      if (!config) return
      const { rebuildStore } = await import('../store/stopped.ts')
      await rebuildStore(config, await openLog(config.log), out)
    }),
  )
}

export const store: Register = (program) => {
  seed(program)
  rebuildViews(program)
}
