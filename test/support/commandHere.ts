/**
 * Runs a command of the command line in this process: quicker than a process of its own, where nothing keeps running.
 */
import { CommanderError } from 'commander'
import { withCommands } from '../../src/cli/commandLine.ts'

export type Ran = { readonly code: number; readonly out: string; readonly err: string }
type Stream = 'stdout' | 'stderr'

/** What is written to the streams of this process while `work` runs. */
const gathering = async (terminal: boolean, work: () => Promise<void>): Promise<Readonly<Record<Stream, string>>> => {
  const written = { stdout: '', stderr: '' }
  const streams = (['stdout', 'stderr'] as const).map((name) => ({ name, stream: process[name] }))
  const before = streams.map(({ stream }) => Object.getOwnPropertyDescriptor(stream, 'write'))
  const kind = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY')
  Object.defineProperty(process.stdout, 'isTTY', { configurable: true, value: terminal })
  for (const { name, stream } of streams)
    Object.defineProperty(stream, 'write', {
      configurable: true,
      value: (text: string) => {
        written[name] += text
        return true
      },
    })
  try {
    await work()
  } finally {
    Reflect.deleteProperty(process.stdout, 'isTTY')
    if (kind) Object.defineProperty(process.stdout, 'isTTY', kind)
    for (const [at, { stream }] of streams.entries()) {
      Reflect.deleteProperty(stream, 'write')
      if (before[at]) Object.defineProperty(stream, 'write', before[at])
    }
  }
  return written
}

const withEnvironment = async <Value>(env: NodeJS.ProcessEnv, work: () => Promise<Value>): Promise<Value> => {
  const before = { ...process.env }
  for (const name of Object.keys(before))
    if (/^(ACCELERANDO_|OS_)/.test(name)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, env)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, before)
  }
}

const LISTENED: readonly (readonly [NodeJS.EventEmitter, string])[] = [
  [process, 'SIGINT'],
  [process, 'SIGTERM'],
  [process.stdout, 'error'],
]
/** A command that ends leaves these to the end of its process. */
const withoutListeners = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  const before = LISTENED.map(([emitter, event]) => new Set(emitter.rawListeners(event)))
  try {
    return await work()
  } finally {
    const added = LISTENED.flatMap(([emitter, event], at) =>
      (emitter.rawListeners(event) as (() => void)[])
        .filter((listener) => !before[at]!.has(listener))
        .map((listener) => [emitter, event, listener] as const),
    )
    for (const [emitter, event, listener] of added) emitter.removeListener(event, listener)
  }
}

type Commands = ReturnType<typeof withCommands>
/** Neither it nor any of its commands ends the process: it throws instead. */
const thrown = (command: Commands): Commands => {
  command.exitOverride()
  for (const each of command.commands) thrown(each)
  return command
}

/**
 * What commander itself refuses ends with the code that the program would have ended with. `terminal`: whether standard
 * output counts as a terminal, which a person reads.
 */
export const commandHere = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { terminal = true }: { readonly terminal?: boolean } = {},
): Promise<Ran> => {
  let ended = 0
  const program = thrown(withCommands())
  const exitCode = process.exitCode
  process.exitCode = undefined
  const { stdout: out, stderr: err } = await withEnvironment(env, () =>
    gathering(terminal, async () => {
      await withoutListeners(() => program.parseAsync(args, { from: 'user' })).catch((error: unknown) => {
        if (!(error instanceof CommanderError)) throw error
        ended = error.exitCode
      })
    }),
  )
  const code = process.exitCode === undefined ? ended : Number(process.exitCode)
  process.exitCode = exitCode
  return { code, out, err }
}
