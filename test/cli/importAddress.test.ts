/** Where `import` reads upstream's database: of the ways to name it exactly one, and the URL in no message. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { addressOf } from '../../src/cli/store/importUpstream.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('import-address')
afterAll(folder.remove)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const url = (name: string) => `postgresql://user:planted@db/${name}`
const at = (name: string) => ({ kind: 'postgres', url: url(name) })
const plain = file('url', `\n  ${url('of-file')} \n`)
const conf = file(
  'cyborg.conf',
  `[DEFAULT]\nconnection = ${url('wrong')}\n[database]\nconnection = ${url('of-conf')}\n`,
)
const CONF: Readonly<Record<string, string>> = {
  'marked by an editor': `\uFEFF[database]\r\nconnection = ${url('odd')}\r\n`,
  'with parameters beside it': `[database]\nconnection_parameters = sslmode=disable\nconnection = ${url('odd')}\n`,
  'with a password that needs no escape': '[database]\nconnection = postgresql://user:a#/?%$$b@db/odd\n',
  'with a name of old releases': `[DEFAULT]\nsql_connection = ${url('odd')}\n`,
}
test.each([
  ['marked by an editor', url('odd')],
  ['with parameters beside it', `${url('odd')}?sslmode=disable`],
  ['with a password that needs no escape', 'postgresql://user:a#/?%$b@db/odd'],
  ['with a name of old releases', url('odd')],
])("it is found in upstream's own configuration %s", (name, found) => {
  expect(addressOf({ fromFile: file('odd.conf', CONF[name]!) }, {})).toEqual({ kind: 'postgres', url: found })
})
const env = (name: string | undefined) => (name === undefined ? {} : { ACCELERANDO_IMPORT_FROM: name })

test.each([
  ['--from', { from: url('a') }, undefined, 'a'],
  ['--from rather than the variable', { from: url('a') }, url('b'), 'a'],
  ['a file that has only the URL', { fromFile: plain }, undefined, 'of-file'],
  ['a file rather than the variable', { fromFile: plain }, url('b'), 'of-file'],
  ["upstream's own configuration", { fromFile: conf }, undefined, 'of-conf'],
  ['the variable', {}, url('b'), 'b'],
])('it is named by %s', (_, given, variable, name) => {
  expect(addressOf(given, env(variable))).toEqual(at(name))
})
const SOURCES = '--from, --from-file or ACCELERANDO_IMPORT_FROM'
test.each([
  ['nothing', {}, undefined, `name upstream's database with ${SOURCES}`],
  ['an empty variable', {}, '', `name upstream's database with ${SOURCES}`],
  [
    'two ways',
    { from: url('a'), fromFile: plain },
    undefined,
    '--from and --from-file name the same thing: leave one out',
  ],
  ['no URL', { from: 'planted' }, undefined, '--from: it is not a URL'],
  ['no URL in the variable', {}, 'planted', 'ACCELERANDO_IMPORT_FROM: it is not a URL'],
  [
    'a configuration without a connection',
    { fromFile: file('empty.conf', '[database]\n#connection = planted\n') },
    undefined,
    'empty.conf sets no connection in [database], and is not a URL alone',
  ],
  ['no URL in a file', { fromFile: file('odd', 'planted') }, undefined, '--from-file: it is not a URL'],
])('%s: it is refused', (_, given, variable, said) => {
  const read = () => addressOf(given, env(variable))
  expect(read).toThrow(said)
  expect(read).not.toThrow(/planted/)
})
