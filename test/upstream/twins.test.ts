/**
 * Rows of upstream that stand for one thing: whatever shares a name, a provider or a control path, no attach handle in
 * use is lost, and nothing is recorded twice.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { functionOf } from '../../src/vocabulary/attachedFunctions.ts'
import { boundHandles } from '../../src/actors/upstream/devices.ts'
import { type Plan, planImport } from '../../src/actors/upstream/plan.ts'
import type { ArqRow, DeployableRow, HandleRow, UpstreamTables } from '../../src/actors/upstream/rows.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'
import { NOW, importInto, violationsIn } from './recorded.ts'
import {
  boundRow,
  deployableRow,
  deviceRow,
  handleRow,
  mdevText,
  nameOf,
  pathRow,
  pciText,
  profiles,
  simple,
  tablesOf,
  uuidOf,
} from './scenario.ts'

const A = { host: 'compute-1', bus: 'a1' }
const NAME = nameOf(A)
const arqs = (...rows: readonly ArqRow[]): Partial<UpstreamTables> => ({ extended_accelerator_requests: rows })
const card = (deployables: readonly DeployableRow[], handles: readonly HandleRow[]): Partial<UpstreamTables> => ({
  devices: [deviceRow(1)],
  controlpath_ids: [pathRow(1, 1, pciText('a1'))],
  deployables,
  attach_handles: handles,
})
/** `<deployable>: <its handles>`, and below which one it stands. */
const shown = ({ devices }: Plan): readonly string[] =>
  devices.flatMap(({ identity, deployables }) =>
    deployables.map((one) => {
      const below = one.identity.tree ? ` below ${one.identity.tree.parentId}` : ''
      const handles = one.handles.map(({ uuid }) => Number(uuid.slice(-12)))
      return `device ${identity.id}, ${one.identity.id}${below}: ${handles.join(' ')}`
    }),
  )
const fatesIn = ({ arqs: all }: Plan): readonly string[] =>
  all.map(({ uuid, fate }) =>
    fate.is === 'bound' ? `${Number(uuid.slice(-12))} has ${Number(fate.bond.handle.uuid.slice(-12))}` : fate.is,
  )
const notesOf = ({ notes }: Plan): readonly string[] =>
  notes
    .filter(({ rule }) => rule !== 'count' && rule !== 'class')
    .map((it) => `${it.outcome} ${it.rule} ${it.table} ${it.id}: ${it.text}`)
const DEPLOYABLE = (id: number) => uuidOf('deployable', id)

describe('of two deployables of a device with one name', () => {
  const handles = [
    handleRow(1, 1, pciText('a1', '00', '1'), { inUse: true }),
    handleRow(2, 2, pciText('a1', '00', '2'), { inUse: true }),
  ]
  test('one is kept, with the attach handles of both that guests use', () => {
    const tables = tablesOf(
      profiles,
      card([deployableRow(1, 1, NAME), deployableRow(2, 1, NAME)], handles),
      arqs(boundRow(1, 1, NAME), boundRow(2, 2, NAME)),
    )
    const plan = planImport(tables)
    expect(shown(plan)).toEqual(['device 1, 1: 1 2'])
    expect(fatesIn(plan)).toEqual(['1 has 1', '2 has 2'])
    expect(notesOf(plan)).toEqual([
      `left out W17 deployables 2: deployable ${DEPLOYABLE(1)} of device ${uuidOf('device', 1)} has its name ${NAME}`,
      `repaired W17 attach_handles 2: it goes over to deployable ${DEPLOYABLE(1)}: it is in use, and ${DEPLOYABLE(2)} is left out`,
    ])
  })
  test('the one that guests use is kept, and what upstream marked in the other one is withheld', () => {
    const tables = tablesOf(
      profiles,
      card([deployableRow(1, 1, NAME), deployableRow(2, 1, NAME)], handles),
      arqs(boundRow(2, 2, NAME)),
    )
    const plan = planImport(tables)
    expect(shown(plan)).toEqual(['device 1, 2: 1 2'])
    expect(plan.withheld.map(({ deployable, handle }) => [deployable, handle])).toEqual([
      [DEPLOYABLE(2), uuidOf('handle', 1)],
    ])
  })
  test('a free attach handle of another deployable, for a function that a guest has, is withheld (REQUEST-4)', () => {
    const child = { parentId: 1, rootId: 1, rpUuid: null }
    const tables = tablesOf(
      profiles,
      card(
        [deployableRow(1, 1, NAME), deployableRow(2, 1, 'child', child)],
        [handleRow(1, 1, pciText('a1', '00', '1'), { inUse: true }), handleRow(2, 2, pciText('a1', '00', '1'))],
      ),
      arqs(boundRow(1, 1, NAME)),
    )
    const plan = planImport(tables)
    expect(fatesIn(plan)).toEqual(['1 has 1'])
    expect(plan.withheld.map(({ deployable, handle }) => [deployable, handle])).toEqual([
      [DEPLOYABLE(2), uuidOf('handle', 2)],
    ])
    expect(notesOf(plan)).toEqual([
      'repaired shared attach_handles 2: quarantined: another attach handle that is in use has its hardware: function 0000:a1:00.1 is offered or attached already',
    ])
  })
  test('two children are no exception', () => {
    const child = { parentId: 1, rootId: 1, rpUuid: null }
    const tables = tablesOf(
      profiles,
      card(
        [deployableRow(1, 1, NAME), deployableRow(2, 1, 'child', child), deployableRow(3, 1, 'child', child)],
        [handleRow(2, 2, pciText('a1', '00', '1')), handleRow(3, 3, pciText('a1', '00', '2'), { inUse: true })],
      ),
      arqs(boundRow(1, 2, NAME), boundRow(2, 3, NAME)),
    )
    const plan = planImport(tables)
    expect(shown(plan)).toEqual(['device 1, 1: ', 'device 1, 2 below 1: 2 3'])
    expect(fatesIn(plan)).toEqual(['1 has 2', '2 has 3'])
  })
  test('what stands below the other one goes over as well, also when a child has the name of its root', () => {
    const below = (parentId: number) => ({ parentId, rootId: 1, rpUuid: null })
    const tables = tablesOf(
      profiles,
      card(
        [deployableRow(1, 1, NAME), deployableRow(2, 1, NAME, below(1)), deployableRow(3, 1, 'child', below(1))],
        [handleRow(2, 2, pciText('a1', '00', '1')), handleRow(3, 3, pciText('a1', '00', '2'))],
      ),
      arqs(boundRow(1, 2, NAME)),
    )
    const plan = planImport(tables)
    expect(shown(plan)).toEqual(['device 1, 2: 2', 'device 1, 3 below 2: 3'])
    expect(plan.devices[0]!.deployables[0]!.identity.rpUuid).toBe(rpUuidOf(NAME))
    expect(notesOf(plan)).toContain('repaired tree deployables 3: its parent is 2, which stands for 1')
  })
})

describe('of two deployables of a device with one resource provider', () => {
  const rows = [deployableRow(1, 1, 'other', { rpUuid: rpUuidOf(NAME) }), deployableRow(2, 1, NAME)]
  const handles = (inUse: boolean) => [
    handleRow(1, 1, pciText('a1', '00', '1'), { inUse }),
    handleRow(2, 2, pciText('a1', '00', '2'), { inUse: true }),
  ]
  test('both are kept when guests use both; one gets the provider that follows from its name', () => {
    const plan = planImport(
      tablesOf(profiles, card(rows, handles(true)), arqs(boundRow(1, 1, NAME), boundRow(2, 2, NAME))),
    )
    expect(shown(plan)).toEqual(['device 1, 1: 1', 'device 1, 2: 2'])
    expect(plan.devices[0]!.deployables.map(({ identity }) => identity.rpUuid)).toEqual([
      rpUuidOf('other'),
      rpUuidOf(NAME),
    ])
    expect(notesOf(plan)).toEqual([
      `repaired W12 deployables 1: it gets resource provider ${rpUuidOf('other')}: deployable ${DEPLOYABLE(2)} has ${rpUuidOf(NAME)}`,
    ])
  })
  test('the one that nobody uses is left out', () => {
    const plan = planImport(tablesOf(profiles, card(rows, handles(false)), arqs(boundRow(2, 2, NAME))))
    expect(shown(plan)).toEqual(['device 1, 2: 2'])
  })
  test('a child that has the provider of its root is kept as its child', () => {
    const child = deployableRow(2, 1, 'child', { parentId: 1, rootId: 1, rpUuid: rpUuidOf(NAME) })
    const handle = handleRow(2, 2, pciText('a1', '00', '1'), { inUse: true })
    const plan = planImport(
      tablesOf(profiles, card([deployableRow(1, 1, NAME), child], [handle]), arqs(boundRow(1, 2, NAME))),
    )
    expect(shown(plan)).toEqual(['device 1, 1: ', 'device 1, 2 below 1: 2'])
    expect(fatesIn(plan)).toEqual(['1 has 2'])
    expect(notesOf(plan)).toEqual([])
  })
})

describe('what guests use of a device that is retired', () => {
  test('goes over to the device with its control path, with the deployables that only it has', () => {
    const twin = {
      ...simple(2, A),
      deployables: [deployableRow(2, 2, NAME), deployableRow(3, 2, 'more')],
      attach_handles: [
        handleRow(2, 2, pciText('a1', '00', '2'), { inUse: true }),
        handleRow(3, 3, pciText('a1', '00', '3'), { inUse: true }),
      ],
    }
    const plan = planImport(
      tablesOf(
        profiles,
        simple(1, A, true),
        twin,
        arqs(boundRow(1, 1, NAME), boundRow(2, 2, NAME), boundRow(3, 3, 'more')),
      ),
    )
    expect(shown(plan)).toEqual(['device 1, 1: 1 2', 'device 1, 3: 3'])
    expect(fatesIn(plan)).toEqual(['1 has 1', '2 has 2', '3 has 3'])
  })
  test('keeps its own attach handle, because a mediated device has the UUID of that one', () => {
    const vgpu = (id: number, inUse: boolean) => ({
      ...simple(id, A),
      deployables: [deployableRow(id, id, NAME)],
      attach_handles: [
        handleRow(id, id, mdevText('a1', 0), { type: 'MDEV', inUse }),
        handleRow(id + 10, id, mdevText('a1', id), { type: 'MDEV', inUse: true }),
      ],
    })
    const plan = planImport(
      tablesOf(
        profiles,
        vgpu(1, false),
        vgpu(2, true),
        arqs(boundRow(1, 11, NAME), boundRow(2, 2, NAME, { updatedAt: 0 })),
      ),
    )
    expect(fatesIn(plan)).toEqual(['1 has 11', '2 has 2'])
  })
  test('puts the device that stands for it in maintenance where it cannot be read', () => {
    const twin = {
      ...simple(2, A),
      deployables: [deployableRow(2, 2, 'b')],
      attach_handles: [handleRow(2, 2, 'x', { inUse: true })],
    }
    const plan = planImport(tablesOf(simple(1, A), twin))
    expect(plan.devices.map(({ identity, status }) => [identity.id, status])).toEqual([
      [1, 'maintaining'],
      [2, 'enabled'],
    ])
  })
})

test('a device is in maintenance where the deployable of a used attach handle cannot be read', () => {
  const plan = planImport(
    tablesOf({ ...simple(1, A, true), deployables: [deployableRow(1, 1, NAME, { uuid: 'none' })] }),
  )
  expect(plan.devices.map(({ status }) => status)).toEqual(['maintaining'])
})

test('a device without control path that is known by a mediated device of a guest is kept', () => {
  const handle = handleRow(1, 1, mdevText('a1', 0), { type: 'MDEV', inUse: true })
  const plan = planImport(
    tablesOf(profiles, { ...simple(1, A), controlpath_ids: [], attach_handles: [handle] }, arqs(boundRow(1, 1, NAME))),
  )
  expect(fatesIn(plan)).toEqual(['1 has 1'])
  expect(plan.devices[0]!.facts.controlPath).toBe(pciText('a1'))
})

describe('whatever rows share', () => {
  const NAMES = ['n1', 'n2', 'n3', 'n4'] as const
  const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
  const handleIn = fc.record({ slot: fc.nat(5), inUse: fc.boolean(), bound: fc.boolean(), failed: fc.boolean() })
  const unitIn = fc.record({
    name: one(...NAMES),
    provider: one<string | null>(null, null, ...NAMES.map(rpUuidOf)),
    parent: fc.option(fc.nat(11), { freq: 2 }),
    handles: fc.array(handleIn, { maxLength: 3 }),
  })
  const deviceIn = fc.record({
    host: one('compute-1', 'compute-2'),
    path: one<string | null>('a1', 'a1', 'b1', 'c1', null),
    units: fc.array(unitIn, { maxLength: 4 }),
  })
  type Drawn = readonly (typeof deviceIn extends fc.Arbitrary<infer Value> ? Value : never)[]
  const tablesFrom = (drawn: Drawn): UpstreamTables => {
    const units = drawn.flatMap((device, at) => device.units.map((unit) => ({ ...unit, deviceId: at + 1 })))
    const handles = units.flatMap((unit, at) => unit.handles.map((handle) => ({ ...handle, deployableId: at + 1 })))
    return tablesOf(profiles, {
      devices: drawn.map(({ host }, at) => deviceRow(at + 1, { hostname: host, type: 'FPGA' })),
      controlpath_ids: drawn.flatMap(({ path }, at) => (path === null ? [] : [pathRow(at + 1, at + 1, pciText(path))])),
      deployables: units.map(({ name, provider, parent, deviceId }, at) =>
        deployableRow(at + 1, deviceId, name, { rpUuid: provider, parentId: parent === null ? null : parent + 1 }),
      ),
      attach_handles: handles.map(({ slot, inUse, deployableId }, at) =>
        handleRow(at + 1, deployableId, pciText('a1', '00', `${slot}`), { inUse }),
      ),
      extended_accelerator_requests: handles.flatMap(({ bound, failed, deployableId }, at) =>
        bound || failed
          ? [boundRow(at + 1, at + 1, 'x_', { deployableId, ...(bound ? {} : { state: 'BindFailed' as const }) })]
          : [],
      ),
    })
  }
  const present = ({ devices }: Plan) => devices.filter(({ canonical }) => canonical !== null)
  const handlesOf = (plan: Plan) =>
    present(plan).flatMap(({ deployables }) => deployables.flatMap(({ handles }) => handles))
  const drawn = fc.array(deviceIn, { minLength: 1, maxLength: 4 }).map(tablesFrom)
  const twice = (all: readonly string[]) => all.filter((text, at) => all.indexOf(text) !== at)

  test('no attach handle in use is lost: it is held or withheld, or the same one of its deployable is', () => {
    fc.assert(
      fc.property(drawn, (tables) => {
        const plan = planImport(tables)
        const live = boundHandles(tables)
        const taken = new Set<string>([
          ...plan.withheld.map(({ handle }) => handle),
          ...plan.arqs.flatMap(({ fate }) => (fate.is === 'bound' ? [fate.bond.handle.uuid] : [])),
        ])
        const recorded = handlesOf(plan)
        const safe = new Set<string>(recorded.filter(({ uuid }) => taken.has(uuid)).map(({ uuid }) => uuid))
        const alike = new Set(
          plan.notes
            .filter(
              ({ rule, outcome, table }) => rule === 'W17' && outcome === 'left out' && table === 'attach_handles',
            )
            .map(({ id }) => id),
        )
        for (const { id, uuid, inUse, info } of tables.attach_handles) {
          if (!inUse && !live.has(id)) continue
          if (safe.has(uuid)) continue
          expect(alike).toContain(id)
          const fn = JSON.parse(info).function
          expect(recorded.some((it) => it.info['function'] === fn && safe.has(it.uuid))).toBe(true)
        }
        expect(plan.notes.filter(({ rule }) => rule === 'handle lost')).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
  test('no free attach handle has the hardware of one that is held or withheld', () => {
    fc.assert(
      fc.property(drawn, (tables) => {
        const plan = planImport(tables)
        const taken = new Set<string>([
          ...plan.withheld.map(({ handle }) => handle),
          ...plan.arqs.flatMap(({ fate }) => (fate.is === 'bound' ? [fate.bond.handle.uuid] : [])),
        ])
        for (const devices of Map.groupBy(present(plan), ({ identity }) => identity.host).values()) {
          const all = devices.flatMap(({ deployables }) => deployables.flatMap(({ handles }) => handles))
          const used = new Set(all.filter(({ uuid }) => taken.has(uuid)).map(functionOf))
          expect(all.filter((one) => !taken.has(one.uuid) && used.has(functionOf(one)))).toEqual([])
        }
      }),
      { numRuns: 400 },
    )
  })
  test('nothing is recorded twice: no row, no name of a host, no provider of a root', () => {
    fc.assert(
      fc.property(drawn, (tables) => {
        const plan = planImport(tables)
        const deployables = plan.devices.flatMap((device) => device.deployables.map(({ identity }) => identity))
        expect(twice(plan.devices.map(({ identity }) => identity.uuid))).toEqual([])
        expect(twice(deployables.map(({ uuid }) => uuid))).toEqual([])
        expect(twice(deployables.map(({ host, name }) => `${host} ${name}`))).toEqual([])
        expect(twice(deployables.filter(({ tree }) => !tree).map(({ rpUuid }) => rpUuid))).toEqual([])
        expect(twice(handlesOf(plan).map(({ uuid }) => uuid))).toEqual([])
        expect(twice(present(plan).map(({ identity, canonical }) => `${identity.host} ${canonical}`))).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
  test('what is recorded breaks no invariant', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (tables) => {
        const store = memoryStore({ now: () => NOW })
        await importInto(store, tables)
        expect(await violationsIn(store)).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
