/** Prints the sample file and the manual page from the table of options. */
import { Command } from 'commander'
import { PROGRAM_FLAGS, addFlags } from './flags.ts'
import { envName, flagName, KEYS, rowOf } from './table.ts'
import type { Plain } from './row.ts'
import type { Key } from './table.ts'

const WIDTH = 100

/**
 * A value on one line, so that an operator can uncomment just that line. `stringify` of smol-toml writes a table, or a
 * list of tables, as a section of its own, and the options after it would then belong to that section. The tests parse
 * the sample with smol-toml.
 */
const toml = (value: Plain): string => {
  if (Array.isArray(value)) return `[${(value as readonly Plain[]).map(toml).join(', ')}]`
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([name, each]) => `${name} = ${toml(each)}`)
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
  }
  return JSON.stringify(value)
}

const sectionOf = (key: Key): string => (key.includes('.') ? key.slice(0, key.indexOf('.')) : '')
const nameOf = (key: Key): string => key.slice(key.indexOf('.') + 1)

const wrapped = (text: string, prefix: string): readonly string[] => {
  const lines: string[] = []
  let line = prefix
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(line)
      line = prefix
    }
    line += line === prefix ? word : ` ${word}`
  }
  return [...lines, line]
}

const placesOf = (key: Key): string =>
  [rowOf(key).flag && rowOf(key).only !== 'environment' ? flagName(key) : '', envName(key)].filter(Boolean).join(', ')

const sampleOf = (key: Key): readonly string[] => {
  const { about, form, standard, example } = rowOf(key)
  const value = standard ?? example ?? ''
  const note = standard === null ? ' Not set; for example:' : ''
  return [...wrapped(`${about} (${form}; ${placesOf(key)})${note}`, '# '), `#${nameOf(key)} = ${toml(value)}`, '']
}

const inFile = KEYS.filter((key) => rowOf(key).only === undefined)
const sections: readonly string[] = [...new Set(inFile.map(sectionOf))]

/** The sample changes nothing as it is, because every value is commented out. */
export const sampleFile = (): string =>
  [
    ...wrapped(
      'Every option with its default. A flag overrides the environment, the environment overrides this file. ' +
        'Relative paths start at the folder in which the program is started.',
      '# ',
    ),
    '',
    ...sections.flatMap((section) => [
      ...(section === '' ? [] : [`[${section}]`, '']),
      ...inFile.filter((key) => sectionOf(key) === section).flatMap(sampleOf),
    ]),
  ]
    .join('\n')
    .replace(/\n+$/, '\n')

const cell = (text: string): string => text.replaceAll('|', '\\|')
const tableRow = (key: Key): string => {
  const { about, form, standard, flag, only } = rowOf(key)
  const usual = standard === null ? 'not set' : `\`${toml(standard)}\``
  const where = [flag ? `\`${flagName(key)}\`` : '', `\`${envName(key)}\``].filter(Boolean).join('<br>')
  const limit = only === undefined ? '' : ` Set by ${only} only.`
  return `| \`${key}\` | ${where} | ${cell(form)} | ${cell(usual)} | ${cell(about)}${limit} |`
}

const INTRODUCTION = `# Configuration

Reference. Every option can be set in a TOML file (\`--config FILE\`) and in the environment; the common ones also have a flag. A flag overrides the
environment, the environment overrides the file, and the file overrides the default. The name of a variable is \`ACCELERANDO_\` and the key in upper
case, with \`_\` for every dot: \`bind.deadline_seconds\` is \`ACCELERANDO_BIND_DEADLINE_SECONDS\`. In the environment a list is separated by
commas, a table is JSON, and an empty variable sets nothing. Relative paths start at the folder in which the program is started.

An unknown option or an invalid value stops the start, also if another source overrides that value. All of them are listed, each with its rule and
where it came from.

[\`infra/contracts/accelerando.sample.toml\`](../infra/contracts/accelerando.sample.toml) contains every option with its default. That file and this
page are printed from the program by \`npm run print\`.
`

const help = (name: keyof typeof PROGRAM_FLAGS): string =>
  addFlags(new Command(`accelerando ${name}`), PROGRAM_FLAGS[name])
    .configureHelp({ helpWidth: WIDTH })
    .helpInformation()
    .trimEnd()

const flagsOf = (name: keyof typeof PROGRAM_FLAGS): readonly string[] => [
  '',
  `## Flags of \`${name}\``,
  '',
  '```text',
  help(name),
  '```',
]

export const manualPage = (): string =>
  [
    INTRODUCTION,
    '## Options',
    '',
    '| key | flag, variable | value | default | meaning |',
    '|---|---|---|---|---|',
    ...KEYS.map(tableRow),
    ...(['start', 'control', 'host'] as const).flatMap(flagsOf),
    '',
  ].join('\n')
