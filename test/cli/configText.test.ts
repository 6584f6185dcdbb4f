import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { addFlags, PROGRAM_FLAGS } from '../../src/cli/config/flags.ts'
import { envName, flagField, flagName, KEYS, rowOf } from '../../src/cli/config/table.ts'
import { manualPage, sampleFile } from '../../src/cli/config/text.ts'

const committed = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const FILES: Readonly<Record<string, string>> = {
  'kafka-ca.pem': '-----BEGIN CERTIFICATE-----',
  'cloud-ca.pem': '-----BEGIN CERTIFICATE-----',
  'clouds.yaml': 'clouds: { mycloud: { auth: {} } }',
}
const load = (text: string | null, flags: Record<string, unknown> = {}) =>
  loadConfig({
    flags: text === null ? flags : { ...flags, config: 'sample' },
    env: {},
    readFile: (path) => (path === 'sample' ? (text ?? '') : (FILES[basename(path)] ?? '')),
    osHostname: 'here',
  })

test('names of variables and flags are derived, and no two are alike', () => {
  expect(envName('pci.passthrough_whitelist')).toBe('ACCELERANDO_PCI_PASSTHROUGH_WHITELIST')
  expect(envName('compat.tempest_server_faults')).toBe('ACCELERANDO_COMPAT_TEMPEST_SERVER_FAULTS')
  expect(envName('listen')).toBe('ACCELERANDO_LISTEN')
  expect(flagName('nova.url')).toBe('--nova-url')
  expect([flagName('kafka.brokers'), flagName('host.name')]).toEqual(['--kafka', '--name'])
  expect(new Set(KEYS.map(envName)).size).toBe(KEYS.length)
  expect(new Set(KEYS.map(flagName)).size).toBe(KEYS.length)
})

test('every option is described in a sentence', () => {
  for (const key of KEYS) expect(rowOf(key).about, key).toMatch(/^[A-Z].*\.$/)
})

test('the sample file and the manual are what the program prints', () => {
  expect(committed('infra/contracts/accelerando.sample.toml')).toBe(sampleFile())
  expect(committed('docs/configuration.md')).toBe(manualPage())
})

test('the sample changes nothing as it stands', () => {
  const settings = (loaded: ReturnType<typeof load>) => {
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
    const { inForce, ...config } = loaded.config
    const options = inForce?.options.filter(({ key }) => key !== 'config')
    return { ...config, options }
  }
  expect(settings(load(sampleFile()))).toEqual(settings(load(null)))
})

test('the sample is valid with every value taken in', () => {
  const full = sampleFile().replaceAll(/^#(?=\w+ = )/gm, '')
  expect(load(full)).toMatchObject({
    ok: true,
    config: { nova: { url: 'http://127.0.0.1:8774/v2.1' }, host: { name: 'compute-1' } },
  })
})

describe('flags', () => {
  const parsed = (...argv: string[]) =>
    addFlags(new Command().exitOverride(), PROGRAM_FLAGS.start).parse(argv, { from: 'user' }).opts()

  test('of the interface that outside checks rely on', () => {
    const flags = ['listen', 'admin-listen', 'data', 'config', 'demo', 'demo-hosts', 'demo-devices', 'demo-handles']
    const more = [
      'tour',
      'ui-listen',
      'nova-url',
      'images',
      'noauth-anywhere',
      'database',
      'log-level',
      'demo-seed',
      'name',
      'auth',
    ]
    const flagsOf = (names: readonly string[]) => names.map((name) => `--${name}`).toSorted()
    expect(PROGRAM_FLAGS.start.map(flagName).toSorted()).toEqual(flagsOf([...flags, ...more]))
    const both = ['kafka', 'config', 'images', 'log-level', 'admin-listen', 'clock-offset-ms']
    const control = ['database', 'listen', 'ui-listen', 'auth', 'noauth-anywhere', 'nova-url']
    expect(PROGRAM_FLAGS.control.map(flagName).toSorted()).toEqual(flagsOf([...both, ...control]))
    const host = ['name', 'data', 'demo-devices', 'demo-handles', 'demo-seed']
    expect(PROGRAM_FLAGS.host.map(flagName).toSorted()).toEqual(flagsOf([...both, ...host]))
  })
  test('arrive under the names the loader looks for', () => {
    for (const keys of Object.values(PROGRAM_FLAGS)) {
      const command = addFlags(new Command(), keys)
      expect(command.options.map((option) => option.attributeName())).toEqual(keys.map(flagField))
    }
  })
  test('reach the configuration', () => {
    const flags = parsed('--listen', '127.0.0.1:0', '--data', '/d', '--demo', '--nova-url', 'http://n', '--images', 'i')
    expect(load(null, flags)).toMatchObject({
      ok: true,
      config: { listen: { port: 0 }, data: '/d', demo: { kind: 'mixed' }, nova: { url: 'http://n' }, images: 'i' },
    })
  })
  test('set nothing when they are not given', () => {
    expect(parsed()).toEqual({})
  })
})
