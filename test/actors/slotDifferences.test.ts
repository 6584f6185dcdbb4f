/** What a host has prepared, compared with the journal: which differences there are, and what is none. */
import { describe, expect, test } from 'vitest'
import { functionOf } from '../../src/attachedFunctions.ts'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import { markOf } from '../../src/actors/deployable/state.ts'
import { type Difference, slotDifferences, usedByOthers } from '../../src/actors/inventory/slotDifferences.ts'
import { createForeignUse } from '../../src/services/reports/foreignUse.ts'
import type { PreparedSlot, Slots } from '../../src/wire/slots.ts'
import { done, given, granted, quiet, released, stuck } from './deployableFacts.ts'
import { ARQ, describing, handle, id, identity, OTHER, recorded, WORD } from './samples.ts'

const STRANGER = id(0x99)
const shown = (n: number, number: number, more: Partial<PreparedSlot> = {}): PreparedSlot => ({
  slot: handle(n).uuid,
  number,
  state: 'prepared',
  function: functionOf(handle(n)),
  ...more,
})
const stranger = (n: number): PreparedSlot => shown(n, 7, { slot: STRANGER, arq: OTHER })
const compare = (facts: readonly DeployableEvent[], prepared: readonly PreparedSlot[], more: Partial<Slots> = {}) => {
  const { differences, unknown } = slotDifferences({ ...more, prepared }, [given(...facts).state])
  return {
    differences: differences.map(({ kind, handle: uuid, found }) => [kind, uuid, found?.slot ?? null]),
    unknown: unknown.map(({ slot }) => slot),
  }
}
const same = { differences: [], unknown: [] }
const [FIRST, SECOND] = [handle(1).uuid, handle(2).uuid]
const bound = [recorded(), granted(1, 1), done(1, 1)] as const
const withheld: DeployableEvent = { type: 'HandleQuarantined', handle: FIRST, until: 'released', ...WORD }

describe('nothing differs', () => {
  test('when the host has what is held, and nothing else', () => {
    expect(compare([...bound], [shown(1, 1, { arq: ARQ })])).toEqual(same)
    expect(compare([recorded()], [])).toEqual(same)
  })
  test('while an order is under way, whatever the host has', () => {
    const preparing = [recorded(), granted(1, 1)]
    const releasing = [...bound, released(1, 2)]
    for (const facts of [preparing, releasing])
      for (const prepared of [[], [shown(1, 1, { arq: ARQ })], [shown(1, 9, { arq: OTHER })]])
        expect(compare(facts, prepared)).toEqual(same)
  })
  test('for a handle that is quarantined or withheld', () => {
    expect(compare([...stuck], [shown(1, 2)])).toEqual(same)
    expect(compare([recorded(), withheld], [shown(1, 2), stranger(1)])).toEqual(same)
    expect(compare([...bound, withheld], [])).toEqual(same)
  })
  test('for the held slots of a device that needs no work on its host', () => {
    expect(compare([quiet, granted(1, null)], [])).toEqual(same)
    expect(compare([quiet, granted(1, null)], [shown(1, 3, { arq: OTHER })])).toEqual(same)
  })
  test('for what is outside of the slots that the report covers', () => {
    expect(compare([...bound], [], { from: SECOND })).toEqual(same)
    expect(compare([...bound], [], { upTo: id(1) })).toEqual(same)
  })
  test('for a device that its host does not show now', () => {
    expect(compare([...bound, { type: 'PresenceSet', presence: 'missing' }], [])).toEqual(same)
  })
})

describe('the host has what the journal does not explain', () => {
  test('its own slot, which the journal holds free', () => {
    expect(compare([...bound, released(1, 2), done(1, 2)], [shown(1, 1, { arq: ARQ })])).toEqual({
      differences: [['unexplained', FIRST, FIRST]],
      unknown: [],
    })
  })
  test('its own slot of a device that needs no work on its host but to be programmed', () => {
    expect(compare([quiet], [shown(1, 3)]).differences).toEqual([['unexplained', FIRST, FIRST]])
  })
  test('an order that the journal never gave, for another request than the one that holds it', () => {
    expect(compare([...bound], [shown(1, 5, { arq: OTHER })]).differences).toEqual([['unexplained', FIRST, FIRST]])
  })
  test('a slot that nobody knows, with the same hardware as a handle, whether free, held or quarantined', () => {
    for (const facts of [[recorded()], [...bound], [...stuck], [quiet]])
      expect(compare(facts, [stranger(1), shown(1, 1, { arq: ARQ })].slice(0, facts.length > 1 ? 2 : 1))).toEqual({
        differences: [['unexplained', FIRST, STRANGER]],
        unknown: [],
      })
  })
  test('a slot with the physical function of which the handle is a part', () => {
    const part = { ...handle(1), physfn: '0000:aa:00.0' }
    const slot = { ...stranger(1), function: '0000:aa:00.0' }
    expect(compare([recorded({ handles: [part] })], [slot]).differences).toEqual([['unexplained', FIRST, STRANGER]])
  })
  test('a slot of no hardware of this host is only named', () => {
    expect(compare([recorded()], [{ ...stranger(1), function: '0000:ff:00.0' }])).toEqual({
      differences: [],
      unknown: [STRANGER],
    })
  })
})

describe('the host has lost what the journal holds', () => {
  const lost = { differences: [['lost', FIRST, null]], unknown: [] }
  test('it does not name the slot', () => expect(compare([...bound], [])).toEqual(lost))
  test('it names it for an earlier request: its ledger is an old one', () => {
    const again = [...bound, released(1, 2), done(1, 2), granted(1, 3, OTHER), done(1, 3)]
    expect(compare(again, [shown(1, 1, { arq: ARQ })])).toEqual(lost)
  })
  test('its last order for it was a release that the journal has recorded as over', () => {
    const again = [...bound, released(1, 2), done(1, 2), granted(1, 3, ARQ), done(1, 3)]
    expect(compare(again, [shown(1, 2, { state: 'releasing' })])).toEqual(lost)
  })
  test('a mediated device that is not shown, because its driver does not know that it is its own; of others nothing is concluded', () => {
    const gone = (type: 'MDEV' | 'PCI') => {
      const given_ = [recorded({ handles: [{ ...handle(1), type }, handle(2)] }), granted(1, 1), done(1, 1)] as const
      return compare(
        [...given_, { type: 'DeployableDescribed', description: describing({ handles: [handle(2)] }) }],
        [],
      )
    }
    expect(gone('MDEV')).toEqual(lost)
    expect(gone('PCI')).toEqual(same)
  })
  test('it is not prepared again where the host has an unknown slot with the same hardware', () => {
    expect(compare([...bound], [stranger(1)]).differences).toEqual([['unexplained', FIRST, STRANGER]])
  })
})

describe('hardware that is in use', () => {
  const inUse = [{ function: functionOf(handle(1)), by: 'a process' }]
  const used = (facts: readonly DeployableEvent[], more: Partial<Slots> = { inUse }) =>
    usedByOthers({ prepared: [], ...more }, [given(...facts).state]).map(({ kind, handle: uuid }) => [kind, uuid])

  test('differs where nobody has the handle, whether or not its host takes part in binds', () => {
    expect(used([recorded()])).toEqual([['in_use', FIRST]])
    expect(used([quiet])).toEqual([['in_use', FIRST]])
  })
  test('does not where somebody has it, or had it and it is quarantined, or the host did not look', () => {
    for (const facts of [[...bound], [...stuck], [recorded(), withheld], [...bound, released(1, 2)]])
      expect(used(facts)).toEqual([])
    expect(used([recorded()], {})).toEqual([])
  })
})

describe('a slot that differs, in full', () => {
  const compared = (facts: readonly DeployableEvent[], slots: readonly PreparedSlot[], more: Partial<Slots> = {}) => {
    const { state } = given(...facts)
    return { state, ...slotDifferences({ prepared: slots, ...more }, [state]) }
  }
  const unexplained = (state: ReturnType<typeof compared>['state'], uuid: string, said: string, found: object) => ({
    kind: 'unexplained',
    deployable: identity.uuid,
    handle: uuid,
    mark: markOf(state.handles[uuid]!),
    reason: `its host has ${said}`,
    found,
  })
  test('is told with what the host has and with the mark of the handle', () => {
    const { state, ...told } = compared(bound, [
      shown(2, 7, { slot: STRANGER, arq: OTHER }),
      shown(1, 2, { arq: OTHER }),
      shown(2, 3),
    ])
    const [strange, mine] = [
      `slot ${STRANGER} prepared by order 7 with the same hardware, and the journal does not know that slot`,
      `slot ${FIRST} prepared by order 2, which the journal never gave, and another request holds it`,
    ]
    expect(told).toEqual({
      differences: [
        unexplained(state, SECOND, strange, { slot: STRANGER, number: 7, arq: OTHER }),
        unexplained(state, FIRST, mine, { slot: FIRST, number: 2, arq: OTHER }),
        unexplained(state, SECOND, `slot ${SECOND} prepared by order 3, and the journal holds it free`, {
          slot: SECOND,
          number: 3,
        }),
      ],
      unknown: [],
      undecided: false,
    })
  })
  test('is lost where the host has an order of it that the journal gave to another one, or none', () => {
    const lost = (state: ReturnType<typeof compared>['state']) => ({
      kind: 'lost',
      deployable: identity.uuid,
      handle: FIRST,
      mark: markOf(state.handles[FIRST]!),
      reason: 'its host does not have it prepared for the request that holds it',
      found: null,
    })
    for (const [slots, more] of [
      [[shown(1, 1, { arq: OTHER })], {}],
      [[], {}],
      [[], { from: FIRST, upTo: FIRST }],
    ] as const) {
      const { state, ...told } = compared(bound, slots, more)
      expect(told).toEqual({ differences: [lost(state)], unknown: [], undecided: false })
    }
  })
  test('is undecided while an order is under way', () => {
    const { state: _, ...told } = compared([...bound, released(1, 2)], [shown(1, 1, { arq: ARQ })])
    expect(told).toEqual({ differences: [], unknown: [], undecided: true })
  })
  test('is in use where somebody has its hardware', () => {
    const { state } = given(recorded())
    const inUse = [
      { function: functionOf(handle(2)), by: 'qemu' },
      { function: 'nowhere', by: 'x' },
    ]
    expect(usedByOthers({ prepared: [], inUse }, [state])).toEqual([
      {
        kind: 'in_use',
        deployable: identity.uuid,
        handle: SECOND,
        mark: markOf(state.handles[SECOND]!),
        reason: `its hardware ${functionOf(handle(2))} is in use and nobody has it: qemu`,
        found: null,
      },
    ])
  })
})

describe('FOREIGN-1 a use is acted upon when it has lasted', () => {
  const seen = (mark = 'm') => [{ handle: FIRST, mark } as Difference]
  const lab = () => {
    let now = 0
    const lasting = createForeignUse({ monotonic: () => now })
    return (atMs: number, shown: readonly Difference[]) => {
      now = atMs
      return lasting('h1', shown).length
    }
  }
  test('over all reports of that time', () => {
    const at = lab()
    expect([at(0, seen()), at(60_000, seen()), at(120_000, seen())]).toEqual([0, 0, 1])
  })
  test('not when it was seen free in between', () => {
    const at = lab()
    expect([at(0, seen()), at(60_000, []), at(120_000, seen()), at(180_000, seen())]).toEqual([0, 0, 0, 0])
  })
  test('not when somebody had the handle in between', () => {
    const at = lab()
    expect([at(0, seen()), at(60_000, seen()), at(120_000, seen('other'))]).toEqual([0, 0, 0])
  })
})
