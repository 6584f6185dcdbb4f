/** What the completion of a shell proposes for each part of a tree of commands. */
import { Argument, Option } from 'commander'
import { expect, test } from 'vitest'
import { CommandRow } from '../../src/cli/commandRow.ts'
import { completionOf } from '../../src/cli/operators/completion.ts'

const treeOf = (): CommandRow => {
  const program = new CommandRow('prog')
  program.option('--quiet', 'say less').option('-c, --config <FILE>', 'the file')
  program.addOption(new Option('--inner', 'for tests').hideHelp())
  program.command('secret', { hidden: true }).description('nobody is told')
  const host = program.command('host').description('hosts')
  const list = host.command('list').description('lists hosts')
  list.addOption(new Option('-f, --format <FORMAT>', 'the form').choices(['table', 'json']))
  list.option('--wait [SECONDS]', 'wait')
  list.option('-x', 'has no long name')
  host.usually(list)
  const show = host.command('show').description('shows some').option('-a, --all', 'all')
  show.addArgument(new Argument('<KIND>', 'which').choices(['up', 'down']))
  show.addArgument(new Argument('[NAMES...]', 'the names'))
  return program
}
/** The proposals of a function that is given another that takes them. */
const proposed = (propose: unknown): readonly string[] => {
  const said: string[] = []
  ;(propose as (say: (value: string, about: string) => void) => void)((value, about) => said.push(`${value}(${about})`))
  return said
}
type Part = {
  readonly description?: string
  readonly alias?: string
  readonly isBoolean?: boolean
  readonly handler?: unknown
}
type Named = {
  readonly options: ReadonlyMap<string, Part>
  readonly arguments: ReadonlyMap<string, Part & { readonly variadic: boolean }>
  readonly description?: string
}
const told = ({ options, arguments: args, description }: Named): readonly string[] => [
  ...(description ? [description] : []),
  ...[...options].map(
    ([name, { description: about, alias, isBoolean, handler }]) =>
      `--${name} ${alias ?? '-'} ${about} ${isBoolean ? 'alone' : `with ${proposed(handler).join(' ')}`}`,
  ),
  ...[...args].map(([name, { variadic, handler }]) => `${name}${variadic ? '...' : ''} ${proposed(handler).join(' ')}`),
]

test('commands with their families, options with their letters, and values that are known', () => {
  const root = completionOf(treeOf())
  const commands = [...root.commands].map(([name, command]) => [name, told(command as unknown as Named)])
  expect(told(root as unknown as Named)).toMatchInlineSnapshot(`
    [
      "--quiet - say less alone",
      "--config c the file with ",
      "--help h display help for command alone",
    ]
  `)
  expect(Object.fromEntries(commands)).toMatchInlineSnapshot(`
    {
      "host": [
        "hosts",
        "--help h display help for command alone",
        "--format f the form with table() json()",
        "--wait - wait with ",
      ],
      "host list": [
        "lists hosts",
        "--format f the form with table() json()",
        "--wait - wait with ",
        "--help h display help for command alone",
      ],
      "host show": [
        "shows some",
        "--all a all alone",
        "--help h display help for command alone",
        "KIND up() down()",
        "NAMES... ",
      ],
    }
  `)
})
