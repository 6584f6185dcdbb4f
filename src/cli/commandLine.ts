/** The command line: all commands under one program. Each command is a file in `commands/`. */
import type { Command } from 'commander'
import type { Register } from './command.ts'
import { archiveCommand } from './commands/archive.ts'
import { arqs } from './commands/arqs.ts'
import { audit } from './commands/audit.ts'
import { control } from './commands/control.ts'
import { deadLetters } from './commands/deadLetters.ts'
import { devices } from './commands/devices.ts'
import { doctor } from './commands/doctor.ts'
import { drift } from './commands/drift.ts'
import { handles } from './commands/handles.ts'
import { host } from './commands/host.ts'
import { hosts } from './commands/hosts.ts'
import { importCommand } from './commands/import.ts'
import { migrate } from './commands/migrate.ts'
import { orphans } from './commands/orphans.ts'
import { policy } from './commands/policy.ts'
import { profiles } from './commands/profiles.ts'
import { start } from './commands/start.ts'
import { store } from './commands/store.ts'
import { tail } from './commands/tail.ts'
import { topics } from './commands/topics.ts'
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
  hosts,
  handles,
  arqs,
  profiles,
  policy,
]

/** Settings of the program, such as where it writes, have to be made before: its commands inherit them. */
export const withCommands = (program: Command): Command => {
  program.name('accelerando').description('Manages the life of hardware accelerators in a cloud.').version(VERSION)
  for (const register of COMMANDS) register(program)
  return program
}
