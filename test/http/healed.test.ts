/**
 * What `POST /v2/drift/heal` answers of a repair that was made, was not, or was made by another control at the same
 * time.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ENTITIES } from '../../src/actors/entities.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { openPlane, value } from '../support/plane.ts'
import { createTestApp } from './app.ts'
import { speaker } from './cloud.ts'

const HOUR = 3_600_000
const nodeOf = (n: number) => `7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b${String(n).padStart(4, '0')}`
const ONE = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 1 }] }

const opened = async ({ hosts = 1, away = (): boolean => false, onTree = async () => {} } = {}) => {
  const { placement: well, ask } = placementInMemory()
  const clock = handClock()
  const unanswered = { ok: false, error: 'unanswered', reason: 'it is away' } as const
  const placement: Placement = {
    ...well,
    tree: async (root) => {
      await onTree()
      return away() ? unanswered : well.tree(root)
    },
  }
  const options = { placementAuditMs: HOUR, sweepEveryMs: 24 * HOUR, staleAfterMs: 1e9, downAfterMs: 2e9 }
  const world = await openPlane({ placement, clock, options })
  for (let n = 1; n <= hosts; n++) {
    ask('POST', '/resource_providers', { uuid: nodeOf(n), name: `h${n}` })
    await world.shows(`h${n}`, ONE)
  }
  const { must } = speaker(createTestApp(world.control, { additiveMicroversion: true }))
  const heal = async (query = 'dry_run=false') => (await must(200, `POST /v2/drift/heal?${query}`)).json
  return { ...world, clock, heal }
}

test('what was repaired is in step, and a dry run says nothing of it', async () => {
  const { heal, plane } = await opened()
  const [created] = (await heal('')).drift
  expect(created.entries).toMatchObject([{ repairs: expect.arrayContaining(['created']) }])
  expect((await heal('')).healed).toEqual([])
  expect(await heal()).toEqual({
    dry_run: false,
    drift: [created],
    healed: [{ host: 'h1', outcome: 'in_step', left: null }],
    next: null,
  })
  expect((await heal()).healed).toEqual([{ host: 'h1', outcome: 'in_step', left: null }])
  await plane.stop()
})

test('nothing was repaired while Placement did not answer, which is said, also when it answers again by then', async () => {
  let trees = Number.POSITIVE_INFINITY
  let count = 0
  const { heal, plane } = await opened({ away: () => count++ < trees })
  const trouble = { state: 'unreachable', reason: 'it is away' }
  expect((await heal()).healed).toMatchObject([{ host: 'h1', outcome: 'left', left: { host: 'h1', trouble } }])
  // only the comparison before and the pass fail
  ;[trees, count] = [2, 0]
  const [one] = (await heal()).healed
  expect(one).toMatchObject({ outcome: 'left', left: { trouble: null, entries: [{ kind: 'provider' }] } })
  await plane.stop()
})

test.each([
  ['is waited for', 2, 'in_step'],
  ['that does not end is told', Number.POSITIVE_INFINITY, 'busy'],
])('another control that works on the host %s', async (_, times, outcome) => {
  let begun = Number.POSITIVE_INFINITY
  const world = await opened({
    onTree: async () => {
      if (begun >= times) return
      begun++
      const at = world.clock.now()
      type Work = Parameters<typeof world.plane.region.tell>[1]
      const key = 'placement/h1' as Parameters<typeof world.plane.region.tell>[0]
      const command = { type: 'Begin', host: 'h1', at, until: at + 5000, alone: true }
      const plan: Work['plan'] = (draft) => draft.decide(ENTITIES['placement']!, key, command)
      value(await world.plane.region.tell(key, { commandId: randomUUID(), at, cause: { by: 'another control' }, plan }))
    },
  })
  const { clock, heal, plane } = world
  begun = 0
  const answers: { readonly healed: readonly { readonly left: unknown }[] }[] = []
  void heal().then((answer) => answers.push(answer))
  const answered = async () => {
    // slowly, since a real database takes its time
    await clock.pass(200)
    return answers.length > 0
  }
  await expect.poll(answered, { timeout: 30_000, interval: 20 }).toBe(true)
  const [one] = answers[0]!.healed
  expect(one).toMatchObject({ host: 'h1', outcome })
  expect(one!.left === null).toBe(outcome === 'in_step')
  await plane.stop()
})

test('hosts come in pages', async () => {
  const { heal, plane } = await opened({ hosts: 3 })
  const first = await heal('dry_run=false&limit=2')
  expect([first.healed.map(({ host }: { host: string }) => host), first.next]).toEqual([['h1', 'h2'], 'h2'])
  const second = await heal('dry_run=false&limit=2&marker=h2')
  expect([second.healed.map(({ host }: { host: string }) => host), second.next]).toEqual([['h3'], null])
  expect((await heal('')).drift.flatMap(({ entries }: { entries: unknown[] }) => entries)).toEqual([])
  await plane.stop()
})
