import { describe, expect, it } from 'vitest'
import { arqsOf, bitstreamOf, mismatch } from '../../src/actors/arq/groups.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'

const XILINX = { 'trait:CUSTOM_FPGA_XILINX': 'required' }

describe('a group makes', () => {
  it.each([
    [{ 'resources:FPGA': '2' }, 2],
    [{ 'resources:FPGA': '1', 'resources:CUSTOM_MEMORY': '3' }, 4],
    [{ 'trait:CUSTOM_X': 'required' }, 0],
    [{ ...XILINX, 'resources:FPGA': '2' }, 4],
    [{ ...XILINX, 'resources:FPGA': '1', 'resources:CUSTOM_MEMORY': '3' }, 2],
    [{ 'trait:CUSTOM_FPGA_XILINX': 'forbidden', 'resources:FPGA': '1' }, 1],
  ])('%j: %d accelerator requests', (group, count) => {
    expect(arqsOf(group as Record<string, string>)).toBe(count)
  })
  it.each([
    [XILINX],
    [{ ...XILINX, 'resources:GPU': '1' }],
    [{ 'resources:FPGA': 'some' }],
    [{ 'resources:FPGA': '-1' }],
    [{ 'resources:FPGA': '1.5' }],
  ])('%j: none that can be counted', (group) => {
    expect(arqsOf(group as Record<string, string>)).toBe(null)
  })
})

describe('a deployable suits a group', () => {
  const group = { 'resources:FPGA': '1', 'trait:CUSTOM_A': 'required', 'trait:CUSTOM_B': 'forbidden' }
  it.each([
    ['FPGA', ['CUSTOM_A'], null],
    ['PGPU', ['CUSTOM_A'], 'it offers PGPU, the request asks for FPGA'],
    [null, ['CUSTOM_A'], 'it offers nothing, the request asks for FPGA'],
    ['FPGA', [], 'it lacks CUSTOM_A'],
    ['FPGA', ['CUSTOM_A', 'CUSTOM_B'], 'it has the forbidden CUSTOM_B'],
  ])('of class %s with %j: %s', (resourceClass, traits, why) => {
    expect(mismatch(group, resourceClass, new Set(traits))).toBe(why)
  })
})

describe('a group asks for an image', () => {
  it('by its id, or by a property that has to be searched', () => {
    expect(bitstreamOf({ 'accel:bitstream_id': 'i' })).toEqual({ image: 'i', search: null })
    expect(bitstreamOf({ 'accel:function_id': 'f' })).toEqual({
      image: null,
      search: { by: 'function_id', value: 'f' },
    })
    expect(bitstreamOf({})).toEqual({ image: null, search: null })
  })
})

describe('accelerator requests of a profile', () => {
  const creating = async (...groups: readonly Record<string, string>[]) => {
    const world = await openPlane()
    value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups }))
    const made = await world.control.arqs.create(TENANT, 'p')
    const listed = value(await world.control.arqs.list(NOVA, {}, {})).items
    await world.plane.stop()
    return { made, listed }
  }
  it('are made all at once, in the order of its groups', async () => {
    const { made, listed } = await creating({ 'resources:FPGA': '1' }, { 'resources:PGPU': '2' })
    expect(value(made).map(({ group_id, state, project_id }) => [group_id, state, project_id])).toEqual([
      [0, 'Initial', 'p1'],
      [1, 'Initial', 'p1'],
      [1, 'Initial', 'p1'],
    ])
    expect(listed).toEqual(value(made))
  })
  it('are not made at all when one group cannot be counted', async () => {
    for (const odd of [XILINX, { 'resources:FPGA': 'some' }]) {
      const { made, listed } = await creating({ 'resources:FPGA': '1' }, odd)
      expect(made).toMatchObject({ ok: false, fault: { kind: 'invalid', field: 'device_profile_name' } })
      expect(listed).toEqual([])
    }
  })
  it('are not made at all when they are too many', async () => {
    for (const many of ['257', '999999999999']) {
      const { made, listed } = await creating({ 'resources:FPGA': many })
      expect(made).toMatchObject({ ok: false, fault: { kind: 'invalid' } })
      expect(listed).toEqual([])
    }
  })
  it('of nothing are none', async () => {
    expect(value((await creating({ 'trait:CUSTOM_X': 'required' })).made)).toEqual([])
  })
  it('whose acknowledgement is lost are answered all the same', async () => {
    let lost = false
    const store = memoryStore({
      afterCommit: async ({ rows }) => {
        if (lost || !rows[0]?.key.startsWith('arq/')) return
        lost = true
        throw new Error('connection lost')
      },
    })
    const world = await openPlane({}, store)
    value(
      await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '2' }] }),
    )
    expect(value(await world.control.arqs.create(TENANT, 'p'))).toHaveLength(2)
    expect(lost).toBe(true)
    await world.plane.stop()
  })
  it('of a profile nobody knows are refused', async () => {
    const world = await openPlane()
    expect(await world.control.arqs.create(TENANT, 'p')).toMatchObject({
      ok: false,
      fault: { kind: 'not_found', resource: 'device profile' },
    })
    await world.plane.stop()
  })
})
