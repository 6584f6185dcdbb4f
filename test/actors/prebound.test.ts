/** The history that `seed` writes is the one that the actors would have written. */
import { describe, expect, it } from 'vitest'
import { arqKey } from '../../src/actors/arq/decider.ts'
import { deployable, deployableKey } from '../../src/actors/deployable/decider.ts'
import { deciderOf } from '../../src/actors/entities.ts'
import { Refusal, openDraft, toAppend } from '../../src/actors/runtime/draft.ts'
import { blank } from '../../src/actors/runtime/memory.ts'
import type { Append } from '../../src/actors/runtime/ports.ts'
import type { Row } from '../../src/actors/runtime/views.ts'
import { boundOn, freeHandles } from '../../src/services/arqs/prebound.ts'
import { systemIds } from '../../src/clock.ts'
import { describing, FPGA, id, identity } from './samples.ts'

const AT = 5000
const asked = {
  profile: { uuid: id(0xb1), name: 'p', groups: [FPGA] } as unknown as Row<'profiles'>,
  group: FPGA,
  projectId: 'p1',
}
/** A deployable with two handles, as it was recorded from a report. */
const placed = (hostWork: boolean) => {
  const key = deployableKey(identity.uuid)
  const loan = new Map([[key, blank(key, deployable)]])
  const { draft, drafted } = openDraft(loan, deciderOf, 1)
  const description = describing({ hostWork })
  draft.decide(deployable, key, { type: 'Record', identity, description, status: 'enabled', bitstreamId: null })
  const { append, after } = toAppend(loan, drafted, { commandId: 'command', at: 1, cause: { by: 'host h1' } })
  const row = append.changes.flatMap((change) => (change.view === 'deployables' && change.row ? [change.row] : []))[0]!
  return { memory: after.get(key)!, row }
}
const eventsOf = (append: Append, kind: string) =>
  append.rows.filter(({ key }) => key.startsWith(`${kind}/`)).flatMap(({ events }) => events)

describe.each([true, false])('an accelerator request of a stopped store, where a bind needs its host: %s,', (work) => {
  it('is created, and then Bound in one append on the next free handle', () => {
    const place = placed(work)
    expect(freeHandles(place)).toBe(2)
    const { appends, memory } = boundOn(systemIds, AT, place, asked)
    const [creation, bind] = appends as [Append, Append]
    expect(appends).toHaveLength(2)
    expect(appends.map(({ rows }) => rows.map(({ at, cause }) => [at, cause.by]))).toEqual([
      [[AT, 'seed']],
      [
        [AT, 'seed'],
        [AT, 'seed'],
        [AT, 'seed'],
      ],
    ])
    expect(eventsOf(creation, 'arq')).toMatchObject([
      { type: 'ArqCreated', projectId: 'p1', profileUuid: id(0xb1), profileName: 'p', groupId: 0, group: FPGA },
    ])
    const { uuid } = eventsOf(creation, 'arq')[0] as unknown as { uuid: string }
    expect(creation.rows.map(({ key }) => key)).toEqual([arqKey(uuid)])
    const number = work ? 1 : null
    const [started, bound] = eventsOf(bind, 'arq')
    const { bond } = started as unknown as { bond: { handle: { uuid: string }; instanceUuid: string } }
    expect(started).toMatchObject({
      type: 'BindStarted',
      projectId: null,
      bond: { hostname: 'h1', host: 'h1', deviceRpUuid: identity.rpUuid, deployable: identity.uuid, order: number },
    })
    expect(bound).toEqual({ type: 'Bound', workMs: work ? 0 : null })
    const deadline = AT + 180 * 24 * 3_600_000
    expect(eventsOf(bind, 'deployable')).toMatchObject([
      { type: 'Granted', arq: uuid, handle: bond.handle.uuid, order: work ? { number, deadline } : null },
      ...(work ? [{ type: 'OrderDone', slot: bond.handle.uuid, number }] : []),
    ])
    expect(eventsOf(bind, 'instance')).toMatchObject([
      {
        type: 'BindAccepted',
        instance: bond.instanceUuid,
        parts: [{ arq: uuid, deployable: identity.uuid, prepared: true }],
        hostname: 'h1',
        deadline,
        tellUntil: null,
        requestId: 'seed',
      },
      { type: 'BindSettled', outcome: 'completed', arqs: [uuid] },
    ])
    expect(freeHandles({ ...place, memory })).toBe(1)
    const next = boundOn(systemIds, AT, { ...place, memory }, asked)
    expect(freeHandles({ ...place, memory: next.memory })).toBe(0)
    expect(() => boundOn(systemIds, AT, { ...place, memory: next.memory }, asked)).toThrow(Refusal)
  })
})
