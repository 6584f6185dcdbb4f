/** The command line. Standard output carries results only; logs go to standard error. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { Command } from 'commander'
import { type Config, loadConfig } from './config.ts'
import { addFlags } from './configFlags.ts'
import type { Key } from './configTable.ts'
import { openLog } from './logger.ts'

const VERSION = '0.1.0'
const out = (line: string) => void process.stdout.write(`${line}\n`)
const complain = (text: string) => {
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}

const configured = (flags: Readonly<Record<string, unknown>>): Config | null => {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const loaded = loadConfig({ flags, env: process.env, readFile, osHostname: hostname() })
  if (loaded.ok) return loaded.config
  complain(`The configuration is not usable:\n${loaded.problems.map((problem) => `  - ${problem}`).join('\n')}`)
  return null
}

/** An action whose failure is told in one sentence, not as a stack of calls. */
const told =
  <Flags>(act: (flags: Flags) => Promise<void>) =>
  async (flags: Flags) => {
    try {
      await act(flags)
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error))
    }
  }

process.on('unhandledRejection', (error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(70)
})

const program = new Command('accelerando')
  .description('Manages the life of hardware accelerators in a cloud.')
  .version(VERSION)

addFlags(program.command('start', { isDefault: true }).description('Runs the whole service in one process.')).action(
  told(async (flags: Record<string, unknown>) => {
    const config = configured(flags)
    if (!config) return
    const { run } = await import('./run.ts')
    await run(config, openLog(config.log), out)
  }),
)

const STORE_FLAGS: readonly Key[] = ['data', 'database', 'config', 'log.level']
addFlags(program.command('seed').description('Brings a stopped store to exactly N bound ARQs.'), STORE_FLAGS)
  .requiredOption('--hosts <N>', 'simulated hosts')
  .requiredOption('--devices <D>', 'FPGAs of each host')
  .requiredOption('--handles <K>', 'attach handles of each FPGA')
  .requiredOption('--arqs <N>', 'bound ARQs in the end')
  .option('--projects <P>', 'projects that own them', '1')
  .action(
    told(async ({ hosts, devices, handles, arqs, projects, ...flags }: Record<string, string>) => {
      const config = configured(flags)
      if (!config) return
      const { seedStore } = await import('./stopped.ts')
      await seedStore(config, { hosts, devices, handles, arqs, projects } as never, openLog(config.log), out)
    }),
  )

addFlags(
  program
    .command('rebuild-views')
    .description('Drops the views of a stopped store and folds them anew from the journal.'),
  STORE_FLAGS,
).action(
  told(async (flags: Record<string, unknown>) => {
    const config = configured(flags)
    if (!config) return
    const { rebuildStore } = await import('./stopped.ts')
    await rebuildStore(config, out)
  }),
)

await program.parseAsync(process.argv)
