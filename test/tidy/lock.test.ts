import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { LOCKFILES, type Lock, complete, missing } from '../../.ci/lock.ts'

const read = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8'))

describe.each(LOCKFILES)('%s', (name) => {
  const lock = read(name) as Lock

  test('npm ci finds every package in the lockfile, those of other platforms too (else: npm run lock)', () =>
    expect(missing(lock)).toEqual([]))

  test('the lockfile names no registry', () => expect(JSON.stringify(lock)).not.toContain('"resolved"'))

  test('npm ci warns of no package that asks for a newer Node than that of the machine (else: npm run lock)', () => {
    const asking = Object.entries(lock.packages).filter(([place, entry]) => place !== '' && 'engines' in entry)
    expect(asking.map(([place]) => place)).toEqual([])
  })

  test('every version in package.json is exact', () => {
    const { dependencies, devDependencies } = read(name.replace('-lock', '')) as Record<string, Record<string, string>>
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range),
    )
    expect(loose).toEqual([])
  })
})

test('a package of another platform is written as its name tells', () => {
  const wanted = { '@x/linux-arm64-musl': '1.2.3', '@x/windows-x64': '^1.2.0', there: '1.0.0' }
  const incomplete: Lock = {
    packages: {
      '': {},
      'node_modules/x': { dev: true, optionalDependencies: wanted },
      'node_modules/x/node_modules/there': { version: '1.0.0' },
    },
  }
  expect(complete(incomplete).packages).toMatchObject({
    'node_modules/@x/linux-arm64-musl': {
      version: '1.2.3',
      os: ['linux'],
      cpu: ['arm64'],
      libc: ['musl'],
      dev: true,
      optional: true,
    },
    'node_modules/@x/windows-x64': { version: '1.2.0', os: ['win32'], cpu: ['x64'], dev: true, optional: true },
  })
  expect(missing(complete(incomplete))).toEqual([])
})
