/** Differences from Placement and Nova, and servers that are gone: what is asked, said of each kind, and done. */
import { describe, expect, test } from 'vitest'
import { difference, drift } from './apiDocuments.ts'
import { type Answers, scriptedApi } from './scriptedApi.ts'

const { run } = scriptedApi()

const ORPHAN = { instance_uuid: 'i1', hostname: null, arqs: ['a1'], changed_at: 'T1' }
const KEPT = { instance_uuid: 'i5', reason: 'Nova answered 500: no' }
describe('orphans', () => {
  const pages: Answers = {
    'GET /orphans': { orphans: [ORPHAN], unclear: [KEPT], asked: 200, next: 'i7' },
    'GET /orphans?marker=i7': { orphans: [], unclear: [], asked: 3, next: null },
  }
  test.each([
    ['orphan', 7],
    ['orphan collect', 0],
  ])('%s reads all pages, and deletes nothing', async (line, code) => {
    const ran = await run(line, pages)
    expect([ran.code, ran.asked]).toEqual([code, Object.keys(pages)])
    expect(ran.out).toBe(
      'to delete: a1 of instance i1 on -, unchanged since T1\nkept: instance i5: Nova answered 500: no\n203 instances with accelerators; 1 not known to Nova\n',
    )
  })
  test('are deleted a hundred instances at a time, when somebody agrees', async () => {
    const orphans = Array.from({ length: 101 }, (_, n) => ({ ...ORPHAN, instance_uuid: `i${n}` }))
    const found = { 'GET /orphans': { orphans, unclear: [], asked: 101, next: null } }
    const collected = { orphans: [ORPHAN], kept: [KEPT] }
    const { code, out, asked } = await run('orphan collect --apply --yes', {
      ...found,
      'POST /orphans/collect': collected,
    })
    expect(code).toBe(0)
    expect(asked.slice(1).map((line) => line.match(/"i\d+"/g)?.length)).toEqual([100, 1])
    expect(out).toContain('deleted: a1 of instance i1 on -, unchanged since T1\n')
    expect((await run('orphan collect --apply', found)).err).toContain(
      'The accelerator requests of 101 instances are deleted. There is no terminal to ask: add --yes\n',
    )
  })
})

const IGNORED = { by: 'kim', at: 'T1', until: 'T9', reason: 'known' }
describe('drift', () => {
  const shown = (...hosts: readonly object[]) => run('drift', { 'GET /drift': { drift: hosts } })
  test.each<readonly [more: object, text: string]>([
    [{ repairs: ['renamed', 'traits'], state: 'in_sync' }, 'to do: renamed, traits'],
    [{ repairs: ['inventory'], state: 'pending', reason: 'in use' }, 'to do: inventory; then pending: in use'],
    [
      { repairs: ['inventory'], reserving: ['device disabled'], state: 'in_sync' },
      'to do: inventory (reserved: device disabled)',
    ],
    [{ state: 'placement_conflict', reason: 'not ours' }, 'placement_conflict: not ours'],
    [{ kind: 'hardware', reason: 'the device is away' }, 'the device is away'],
    [
      { kind: 'server', consumer_uuid: 'i1', arqs: ['a1'], reason: 'elsewhere' },
      'bound to instance i1 (a1): elsewhere',
    ],
    [{ kind: 'nova_device' }, 'Nova offers it as well'],
    [
      { kind: 'allocation_without_arq', consumer_uuid: 'i1' },
      'allocated to i1, which has no accelerator request on it',
    ],
    [
      { kind: 'arq_without_allocation', consumer_uuid: 'i1', arqs: ['a1', 'a2'] },
      'bound to instance i1 (a1 a2), which has no allocation of all that is bound',
    ],
    [{ state: 'pending', ignored: IGNORED }, 'pending; ignored until T9 by kim: known'],
  ])('%j', async (more, text) => {
    const code = 'ignored' in more ? 0 : 7
    expect(await shown(drift('h1', [difference(more)]))).toMatchObject({
      code,
      out: `h1: board (provider rp1) ${text}\n`,
    })
  })
  test('a host that cannot be compared is told, and hosts that do not differ are counted', async () => {
    const away = drift('h1', [], { state: 'unreached', reason: 'Placement is away' })
    expect(await shown(away)).toMatchObject({ code: 7, out: 'h1: unreached: Placement is away\n' })
    expect(await shown(drift('h1', []))).toMatchObject({ code: 0, out: '1 host: nothing differs\n' })
    expect((await run('drift --host h1 --nova', { 'GET /drift?host=h1&nova=true': { drift: [] } })).code).toBe(0)
  })
  const heal = (query: string) => `POST /drift/heal?${query}`
  const [one, ignored, other] = [
    difference({ repairs: ['created'], state: 'in_sync' }),
    difference({ uuid: 'x2', name: 'two', provider_uuid: 'rp2', state: 'pending', ignored: IGNORED }),
    difference({ uuid: 'x3', repairs: ['traits'], state: 'in_sync' }),
  ]
  const left = drift('h2', [other])
  test('is repaired only with --apply, page by page', async () => {
    const tried = await run('drift heal', {
      [heal('dry_run=true')]: { dry_run: true, drift: [drift('h1', [one, ignored])], healed: [], next: 'h2' },
      [heal('dry_run=true&marker=h2')]: { dry_run: true, drift: [left], healed: [], next: null },
    })
    expect([tried.code, tried.out.split('\n').length]).toEqual([7, 4])
    const done = await run('drift heal --apply', {
      [heal('dry_run=false')]: {
        drift: [drift('h1', [one, ignored])],
        healed: [{ host: 'h1', outcome: 'in_step', left: drift('h1', [ignored]) }],
        next: 'h2',
      },
      [heal('dry_run=false&marker=h2')]: { drift: [left], healed: [{ host: 'h2', outcome: 'left', left }], next: null },
    })
    expect([done.code, done.out]).toEqual([
      7,
      'h1: board (provider rp1) repaired: created\nh1: two (provider rp2) pending; ignored until T9 by kim: known\nh2: board (provider rp1) not repaired: traits\n',
    ])
  })
  test.each([
    [{ outcome: 'in_step', left: null }, 0, 'h2: board (provider rp1) repaired: traits\n'],
    [{ outcome: 'busy', left }, 7, 'h2: another control works on it, so nothing was done; try again\n'],
  ])('a repair that ends with %j', async (healed, code, says) => {
    const answer = { drift: [left], healed: [{ host: 'h2', ...healed }], next: null }
    expect(await run('drift heal --apply', { [heal('dry_run=false')]: answer })).toMatchObject({
      code,
      out: expect.stringContaining(says),
    })
  })
})
