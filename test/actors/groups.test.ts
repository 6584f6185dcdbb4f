import { describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'

const XILINX = { 'trait:CUSTOM_FPGA_XILINX': 'required' }

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
  it.each([
    [{ 'resources:FPGA': '1', 'resources:CUSTOM_MEMORY': '3' }, 4],
    [{ ...XILINX, 'resources:FPGA': '2' }, 4],
    [{ ...XILINX, 'resources:FPGA': '1', 'resources:CUSTOM_MEMORY': '3' }, 2],
    [{ 'trait:CUSTOM_FPGA_XILINX': 'forbidden', 'resources:FPGA': '1' }, 1],
  ])('%j: %d', async (group, count) =>
    expect(value((await creating(group as Readonly<Record<string, string>>)).made)).toHaveLength(count),
  )
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
