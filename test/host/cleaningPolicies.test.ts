/** The rules of a file of cleaning policies, each on both sides of its limit, and in which words it is refused. */
import { describe, expect, test } from 'vitest'
import { readCleaningPolicies } from '../../src/host/cleaningPolicies.ts'

const DRIVERS = Array.from({ length: 51 }, (_, n) => `driver_${n}`)
const [DRIVER] = DRIVERS
const read = (given: unknown) => readCleaningPolicies(given, DRIVERS)
const command = (more: object = {}) => ({ driver: DRIVER, policy: 'command', command: ['/sbin/wipe'], ...more })
const playbook = (more: object = {}) => ({ driver: DRIVER, policy: 'playbook', playbook: '/etc/wipe.yml', ...more })
const policyOf = (one: object) => read([one]).policies[0]
const problemsOf = (one: object) => read([one]).problems

test('without a time of its own, a command or a playbook has a minute', () => {
  expect(policyOf(command())).toEqual({ driver: DRIVER, kind: 'command', command: ['/sbin/wipe'], limitMs: 60_000 })
  expect(policyOf(playbook())).toEqual({
    driver: DRIVER,
    kind: 'playbook',
    playbook: '/etc/wipe.yml',
    limitMs: 60_000,
  })
})
test.each([command, playbook])('a time is a number of seconds from 1 to 3600: case %#', (policy) => {
  for (const seconds of [1, 1.5, 3600])
    expect(read([policy({ timeout_seconds: seconds })])).toMatchObject({
      policies: [{ limitMs: seconds * 1000 }],
      problems: [],
    })
  for (const seconds of [0, 0.5, 3601, '60', null])
    expect([seconds, problemsOf(policy({ timeout_seconds: seconds }))]).toEqual([
      seconds,
      ['0.timeout_seconds: must be a number from 1 to 3600'],
    ])
})

describe('a command', () => {
  const words = (count: number) => ['/sbin/wipe', ...Array.from({ length: count - 1 }, (_, n) => `${n}`)]
  test('has up to a hundred words of up to 4096 characters', () => {
    for (const all of [words(100), ['/sbin/wipe', 'x'.repeat(4096)], [`/${'x'.repeat(4095)}`]])
      expect(read([command({ command: all })])).toEqual({
        policies: [{ driver: DRIVER, kind: 'command', command: all, limitMs: 60_000 }],
        problems: [],
      })
  })
  test.each<[unknown, string]>([
    [words(101), '0.command: must not have more than 100 words'],
    [['/sbin/wipe', 'x'.repeat(4097)], '0.command.1: must not be longer than 4096 characters'],
    [['/sbin/wipe', 'a\0b'], '0.command.1: must not hold a NUL'],
    [['sbin/wipe'], '0.command.0: must be an absolute path'],
    [[1], '0.command.0: must be text'],
    [['/sbin/wipe', 1], '0.command.1: must be text'],
    ['/sbin/wipe', '0.command: must be a list of texts, of which the first is the absolute path of a program'],
  ])('is refused otherwise: case %#', (given, problem) =>
    expect(problemsOf(command({ command: given }))).toEqual([problem]),
  )
})
test.each<[unknown, string]>([
  ['etc/wipe.yml', '0.playbook: must be the absolute path of a playbook'],
  [`/${'x'.repeat(4096)}`, '0.playbook: must not be longer than 4096 characters'],
  ['/etc/a\0b', '0.playbook: must not hold a NUL'],
  [1, '0.playbook: must be text'],
])('a playbook is refused that is no path: case %#', (given, problem) =>
  expect(problemsOf(playbook({ playbook: given }))).toEqual([problem]),
)

test.each<[object, string]>([
  [{ driver: DRIVER, policy: 'none', x: 1 }, '0.x: is not a field of this policy: "x" is unknown'],
  [{ driver: DRIVER, policy: 'quarantine', x: 1 }, '0.x: is not a field of this policy: "x" is unknown'],
  [
    { driver: DRIVER, policy: 'none', timeout_seconds: 1 },
    '0.timeout_seconds: is not a field of this policy: "timeout_seconds" is unknown',
  ],
  [command({ x: 1 }), '0.x: is not a field of this policy: "x" is unknown'],
  [playbook({ x: 1 }), '0.x: is not a field of this policy: "x" is unknown'],
  [{ driver: DRIVER, policy: 'command' }, '0.command: must be a policy'],
  [{ driver: DRIVER, policy: 'playbook' }, '0.playbook: must be a policy'],
  [
    { driver: DRIVER, policy: 'other' },
    '0.policy: must be a policy: driver, policy (none, command, playbook or quarantine), command or playbook of the policy of that name, and timeout_seconds of these two',
  ],
  [{ driver: 'other', policy: 'none' }, `0.driver: must be a driver of this release: ${DRIVERS.join(', ')}`],
  [command({ driver: 'other' }), `0.driver: must be a driver of this release: ${DRIVERS.join(', ')}`],
  [playbook({ driver: 'other' }), `0.driver: must be a driver of this release: ${DRIVERS.join(', ')}`],
])('a policy has the fields of its kind and no others: case %#', (given, problem) =>
  expect(read([given])).toEqual({ policies: [], problems: [problem] }),
)

describe('a list', () => {
  const none = (driver: string | undefined) => ({ driver, policy: 'quarantine' })
  test('has at most fifty policies, each in its turn', () => {
    const fifty = DRIVERS.slice(0, 50).map(none)
    expect(read(fifty).policies.map(({ driver }) => driver)).toEqual(DRIVERS.slice(0, 50))
    expect(read(DRIVERS.map(none))).toEqual({ policies: [], problems: ['must not have more than 50 policies'] })
  })
  test('names the second policy of a driver', () =>
    expect(read([none(DRIVERS[1]), none(DRIVERS[2]), none(DRIVERS[0]), none(DRIVERS[2]), none(DRIVERS[1])])).toEqual({
      policies: [],
      problems: ['3.driver: has a policy already'],
    }))
  test('is told of with its first twenty problems', () => {
    const wrong = (count: number) => read(Array.from({ length: count }, () => command({ command: ['wipe'] }))).problems
    const told = Array.from({ length: 20 }, (_, n) => `${n}.command.0: must be an absolute path`)
    expect(wrong(20)).toEqual(told)
    expect(wrong(21)).toEqual(told)
  })
})
