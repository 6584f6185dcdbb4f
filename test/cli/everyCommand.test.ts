/** Walks the whole tree of commands: what holds for each of them. */
import { describe, expect, test } from 'vitest'
import { withCommands } from '../../src/cli/commandLine.ts'
import { commandHere } from '../support/commandHere.ts'

type CommandRow = ReturnType<typeof withCommands>
type Leaf = { readonly command: CommandRow; readonly path: readonly string[] }
const leavesOf = (command: CommandRow, path: readonly string[]): readonly Leaf[] =>
  command.commands.length === 0
    ? [{ command, path }]
    : command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]))
const LEAVES = leavesOf(withCommands(), [])
const named = LEAVES.map((leaf) => [leaf.path.join(' '), leaf] as const)

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1/v2'
const UUID = '00000000-0000-4000-8000-000000000001'
/** Values that a command takes before it asks anybody. */
const VALUES: Readonly<Record<string, string>> = { '--map': '/dev/null', '--file': '/dev/null' }
/** Commands of which one of several options has to be given. */
const ONE_OF: Readonly<Record<string, readonly string[]>> = {
  'arq delete': [UUID],
  'arq timeline': [UUID],
  'drift ignore': ['--host', 'compute-1'],
  'profile create': ['--group', 'resources:FPGA=1'],
  'profile set': ['--all-projects'],
}
const needed = ({ command, path }: Leaf): readonly string[] => [
  ...(ONE_OF[path.join(' ')] ?? []),
  ...command.registeredArguments
    .filter(({ required }) => required || command.name() === 'explain')
    .map(({ argChoices }) => argChoices?.[0] ?? UUID),
  ...command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, argChoices }) => [long!, VALUES[long!] ?? argChoices?.[0] ?? 'text']),
  ...(command.options.some(({ long }) => long === '--yes') ? ['--yes'] : []),
]
const has = (leaf: Leaf, flag: string): boolean => leaf.command.options.some(({ long }) => long === flag)
/** They tell it as one of their findings. */
const FINDING: readonly string[] = ['doctor', 'support-bundle']
const asking = named.filter(([name, leaf]) => has(leaf, '--api') && !FINDING.includes(name))

test('the tree is walked', () => {
  expect(LEAVES.length).toBeGreaterThan(40)
  expect(asking.length).toBeGreaterThan(20)
})

describe.each(named)('%s', (_, leaf) => {
  test('an unknown option ends with 2, and nothing is printed as a result', async () => {
    const { code, out, err } = await commandHere([...leaf.path, ...needed(leaf), '--frobnicate'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain("unknown option '--frobnicate'")
  })
  test('its help names it, what it does, and each option with a description', async () => {
    const { code, out } = await commandHere([...leaf.path, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`accelerando ${leaf.path.join(' ')}`)
    expect(leaf.command.description()).not.toBe('')
    expect(leaf.command.options.filter(({ description }) => description === '').map(({ long }) => long)).toEqual([])
  })
})

/** What only the script of a shell calls is not shown to people, and a former name has the help of the present one. */
const UNSHOWN = ['complete', 'hosts']
test.each(named.filter(([, { path }]) => !UNSHOWN.includes(path[0]!)))(
  'the help of %s has examples that it would take',
  async (name, { command, path }) => {
    const { out } = await commandHere([...path, '--help'])
    expect(command.examples.length).toBeGreaterThan(0)
    const known = command.options.flatMap(({ long, short }) => [long, short])
    for (const example of command.examples) {
      expect(out).toContain(example)
      expect(example).toContain(`accelerando ${name}`)
      const flags = example.match(/(?<= )--?[a-z][a-z-]*/g) ?? []
      expect(flags.filter((flag) => !known.includes(flag))).toEqual([])
    }
  },
)

test.each(asking)('%s ends with 8 when the service cannot be reached', async (_, leaf) => {
  const { code, out, err } = await commandHere([...leaf.path, ...needed(leaf), '--api', NOBODY])
  expect({ code, out, err }).toMatchObject({ code: 8, out: '' })
  expect(err).toContain(`the API at ${NOBODY} cannot be reached`)
  expect(err).toMatch(/^next: accelerando doctor --api http:\/\/127\.0\.0\.1:1$/m)
})

test('the exit codes of a command are those of all commands and its own, in their order', () => {
  const exitsOf = (name: string) => named.find(([one]) => one === name)![1].command.exits
  expect(exitsOf('completion')).toEqual(['done', 'failed', 'usage', 'interrupted'])
  expect(exitsOf('doctor')).toEqual(['done', 'failed', 'usage', 'findings', 'interrupted'])
  expect(exitsOf('arq bind')).toEqual([
    'done',
    'failed',
    'usage',
    'notFound',
    'denied',
    'conflict',
    'waited',
    'unreached',
    'interrupted',
  ])
})

/** They read no configuration. */
const WITHOUT: readonly string[] = ['completion', 'complete', 'error']
const configured = named.filter(
  ([name, leaf]) =>
    (!has(leaf, '--api') || FINDING.includes(name)) && !name.startsWith('hosts ') && !WITHOUT.includes(name),
)
/** Values that a command takes before it reads the configuration. */
const CHECKED: Readonly<Record<string, readonly string[]>> = {
  'dead-letter retry': [UUID],
  tail: [],
}
test.each(configured)('%s does nothing with a configuration that is not usable', async (name, leaf) => {
  const { code, out, err } = await commandHere([...leaf.path, ...(CHECKED[name] ?? needed(leaf))], {
    ACCELERANDO_LOG_LEVEL: 'loud',
  })
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^The configuration is not usable:\n {2}- log\.level: must be one of [^\n]*\n$/)
})
