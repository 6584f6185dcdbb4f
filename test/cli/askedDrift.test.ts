/**
 * The commands about differences, servers that are gone and versions of profiles: what each asks of the API, and what
 * it prints of the answers, word for word. Where a change is meant: `npx vitest run test/cli/askedDrift.test.ts -u`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'
import { type Answer, type Answers, transcriptOf } from './scriptedApi.ts'

const folder = tempFolder('asked-drift')
afterAll(folder.remove)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const shown = (cases: Parameters<typeof transcriptOf>[0]) => transcriptOf(cases, [[folder.path, '<folder>']])
const ok = (...documents: readonly unknown[]): readonly Answer[] => documents.map((one) => [200, one] as const)
const only = (what: string, ...documents: readonly unknown[]): Answers => ({ [what]: ok(...documents) })

const entry = (name: string, more: object = {}) => ({
  uuid: `difference of ${name}`,
  kind: 'provider',
  provider_uuid: `provider of ${name}`,
  name,
  deployable_uuid: 'd1',
  repairs: ['inventory', 'traits'],
  state: 'in_sync',
  reason: null,
  reserving: [],
  consumer_uuid: 'i1',
  arqs: ['a1', 'a2'],
  ignored: null,
  ...more,
})
const IGNORED = { by: 'kim', at: 'T1', until: 'T9', reason: 'known' }
const drift = (host: string, entries: readonly object[], trouble: object | null = null) => ({
  host,
  compute_node_uuid: 'c1',
  checked_at: 'T1',
  trouble,
  entries,
})
const FOUND = [drift('h1', [entry('e1'), entry('e2', { ignored: IGNORED })]), drift('h3', [])]
const LEFT = drift('h2', [entry('e3')])
const SET_ASIDE = {
  uuid: 'x1',
  host: 'h1',
  kind: 'provider',
  name: 'e1',
  until: 'T9',
  by: 'kim',
  reason: 'known',
  difference_reason: 'it differs',
  provider_uuid: 'r1',
  consumer_uuid: 'i1',
  state: 'in_sync',
  at: 'T1',
  ended: { by: 'lee', at: 'T3', reason: 'mended' },
}
test('differences', async () => {
  const found = (...hosts: readonly object[]) => only('GET /drift', { drift: hosts })
  const heal = (query: string) => `POST /drift/heal?${query}`
  await expect(
    await shown({
      'what differs': { line: 'drift', answers: found(...FOUND), also: ['-f csv', '--json'] },
      'only what is ignored differs': {
        line: 'drift',
        answers: found(drift('h1', [entry('e2', { ignored: IGNORED })])),
      },
      'a host that cannot be compared': {
        line: 'drift',
        answers: found(drift('h1', [], { state: 'unreached', reason: 'Placement is away' })),
      },
      'of one host, and of its servers': {
        line: 'drift --host h1 --nova',
        answers: only('GET /drift?host=h1&nova=true', { drift: [] }),
      },
      'what a repair would do, page by page': {
        line: 'drift heal',
        answers: {
          ...only(heal('dry_run=true'), { dry_run: true, drift: FOUND, healed: [], next: 'h2' }),
          ...only(heal('dry_run=true&marker=h2'), { dry_run: true, drift: [LEFT], healed: [], next: null }),
        },
        also: ['-f csv', '--json'],
      },
      'nothing is to be repaired': {
        line: 'drift heal --host h1',
        answers: only(heal('host=h1&dry_run=true'), {
          dry_run: true,
          drift: [drift('h1', [])],
          healed: [],
          next: null,
        }),
      },
      'what a repair has done and left, page by page': {
        line: 'drift heal --apply',
        answers: {
          ...only(heal('dry_run=false'), {
            dry_run: false,
            drift: FOUND,
            healed: [{ host: 'h1', outcome: 'in_step', left: drift('h1', [entry('e2', { ignored: IGNORED })]) }],
            next: 'h2',
          }),
          ...only(heal('dry_run=false&marker=h2'), {
            dry_run: false,
            drift: [LEFT],
            healed: [{ host: 'h2', outcome: 'left', left: LEFT }],
            next: null,
          }),
        },
        also: ['-f csv', '--json'],
      },
      'all is repaired': {
        line: 'drift heal --apply',
        answers: only(heal('dry_run=false'), {
          dry_run: false,
          drift: [LEFT],
          healed: [{ host: 'h2', outcome: 'in_step', left: null }],
          next: null,
        }),
      },
      'what is ignored': {
        line: 'drift ignored --host h1 --limit 5',
        answers: {
          ...only('GET /drift/ignored?host=h1&limit=5', { ignored: [SET_ASIDE] }),
          ...only('GET /drift/ignored?host=h1', { ignored: [SET_ASIDE, SET_ASIDE] }),
        },
        also: ['-f csv', '--json'],
      },
      'a difference is ignored': {
        line: ['drift', 'ignore', 'x1', '--host', 'h1', '--until', '2026-12-24', '--reason', 'it is known'],
        answers: only('POST /drift/ignored', { ...SET_ASIDE, ended: null }),
        also: ['-f csv', '--json'],
      },
      'of no host': { line: 'drift ignore x1 --until 2026-12-24 --reason known' },
      'and no longer': {
        line: ['drift', 'unignore', 'x/1', '--reason', 'it is mended'],
        answers: only('POST /drift/ignored/x%2F1/end', SET_ASIDE),
        also: ['--json'],
      },
      'no server is gone': {
        line: 'orphan',
        answers: only('GET /orphans', { orphans: [], unclear: [], asked: 3, next: null }),
        also: ['-f csv', '--json'],
      },
      'a server is gone': {
        line: 'orphan -f csv',
        answers: only('GET /orphans', {
          orphans: [{ instance_uuid: 'i1', hostname: 'h1', arqs: ['a1', 'a2'], changed_at: 'T1' }],
          unclear: [],
          asked: 3,
          next: null,
        }),
      },
      'nobody agrees that what it had is deleted': {
        line: 'orphan collect --apply',
        answers: only('GET /orphans', { orphans: [], unclear: [], asked: 0, next: null }),
      },
    }),
  ).toMatchFileSnapshot('golden/askedDrift.txt')
})

const version = (number: number, more: object = {}) => ({
  name: `p${number}`,
  uuid: `u${number}`,
  version: number,
  enabled: number > 1,
  description: `version ${number}`,
  groups: [{ 'resources:FPGA': String(number), 'trait:A': 'required' }, { a: 'b' }],
  projects: ['j1', 'j2'],
  created_at: `T${number}`,
  updated_at: null,
  ...more,
})
test('profiles', async () => {
  const versions = only('GET /device_profiles/a%20b/versions', { versions: [version(1), version(2), version(3)] })
  const map = (text: string) => file(`${text.length}.json`, text)
  const changes = (name: string) => ({
    name,
    uuid: `uuid of ${name}`,
    changes: [
      { group: 0, from: 'A', to: 'B' },
      { group: 2, from: 'C', to: 'D' },
    ],
  })
  await expect(
    await shown({
      'all of them': {
        line: 'profile list',
        answers: {
          ...only('GET /device_profiles', { device_profiles: [version(1), version(2, { projects: null })] }),
          ...only('GET /device_profiles?limit=1', { device_profiles: [version(1)] }),
        },
        also: ['-f csv', '--json', '--limit 1'],
      },
      'as they were': {
        line: 'profiles list --as-of 2026-01-31',
        answers: only('GET /device_profiles?as_of=2026-01-31', { device_profiles: [] }),
      },
      'one of them': {
        line: ['profile', 'show', 'a b', '--as-of', '2026-01-31'],
        answers: only('GET /device_profiles/a%20b?as_of=2026-01-31', { device_profile: version(2) }),
        also: ['-f csv', '--json'],
      },
      'its versions': { line: ['profile', 'versions', 'a b'], answers: versions, also: ['-f csv', '--json'] },
      'what the last two differ in': {
        line: ['profile', 'diff', 'a b'],
        answers: versions,
        also: ['-f csv', '--json'],
      },
      'what two that are named differ in': { line: ['profile', 'diff', 'a b', '3', '1'], answers: versions },
      'a version that is not there': { line: ['profile', 'diff', 'a b', '1', '4'], answers: versions },
      'names are exchanged': {
        line: ['profile', 'migrate', '--map', map('{"traits": {"A": "B"}}'), '--apply', '--reason', 'it is time'],
        answers: only('POST /profile_migrations', { applied: true, profiles: [changes('p1'), changes('p2')] }),
        also: ['-f csv', '--json'],
      },
      'no name is exchanged': {
        line: ['profile', 'migrate', '--map', map('{}'), '--apply', '--reason', 'it is time'],
        answers: only('POST /profile_migrations', { applied: true, profiles: [] }),
      },
      'a file that is no table': { line: `profile migrate --map ${map('[{}]')}` },
      'a draft is explained': {
        line: `explain --file ${map('{"groups": [{"a": "1"}]}')} --host h1 --limit 3 -f csv`,
        answers: only('POST /profile_checks?host=h1&limit=3', {
          fits: true,
          hosts: [{ host: 'h1', fits: true, obstacles: [{ code: 'a' }, { code: 'a' }, { code: 'b' }], groups: [] }],
          profile: null,
        }),
        also: ['--json'],
      },
    }),
  ).toMatchFileSnapshot('golden/askedVersions.txt')
})
