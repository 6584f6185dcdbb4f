/** The command line: all commands under one program. Each command is a file in `commands/`. */
import { CommandRow } from './commandRow.ts'
import { EXITS, type ExitName, exitLines } from './exits.ts'
import type { Register } from './command.ts'
import { archiveCommand } from './commands/archive.ts'
import { arqs, instances } from './commands/arqs.ts'
import { audit } from './commands/audit.ts'
import { capacity } from './commands/capacity.ts'
import { completion } from './commands/completion.ts'
import { control } from './commands/control.ts'
import { deadLetters } from './commands/deadLetters.ts'
import { deliveries } from './commands/deliveries.ts'
import { devices } from './commands/devices.ts'
import { doctor } from './commands/doctor.ts'
import { bitstreams } from './commands/bitstreams.ts'
import { drift } from './commands/drift.ts'
import { errors } from './commands/errors.ts'
import { explain } from './commands/explain.ts'
import { events } from './commands/events.ts'
import { handles } from './commands/handles.ts'
import { host } from './commands/host.ts'
import { importCommand } from './commands/import.ts'
import { migrate } from './commands/migrate.ts'
import { orphans } from './commands/orphans.ts'
import { policy } from './commands/policy.ts'
import { profiles } from './commands/profiles.ts'
import { start } from './commands/start.ts'
import { status } from './commands/status.ts'
import { store } from './commands/store.ts'
import { supportBundle } from './commands/supportBundle.ts'
import { system } from './commands/system.ts'
import { tail } from './commands/tail.ts'
import { topics } from './commands/topics.ts'
import { usage } from './commands/usage.ts'
import { VERSION } from './version.ts'

const COMMANDS: readonly Register[] = [
  start,
  control,
  host,
  store,
  topics,
  deadLetters,
  devices,
  doctor,
  drift,
  orphans,
  migrate,
  importCommand,
  archiveCommand,
  audit,
  tail,
  events,
  errors,
  handles,
  status,
  bitstreams,
  arqs,
  instances,
  deliveries,
  profiles,
  explain,
  usage,
  capacity,
  policy,
  system,
  supportBundle,
  completion,
]

/** Settings of the program, such as its output, must be made before this call, because the commands inherit them. */
export const withCommands = (program: CommandRow = new CommandRow()): CommandRow => {
  program
    .name('accelerando')
    .description('Manages the life of hardware accelerators in a cloud.')
    .version(VERSION)
    .addHelpText('after', `\nExit codes:\n${exitLines(Object.keys(EXITS) as ExitName[]).join('\n')}`)
  for (const register of COMMANDS) register(program)
  return program
}
