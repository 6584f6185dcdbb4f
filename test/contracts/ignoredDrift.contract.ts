/** Ignored differences over each store: they outlive the process, and follow from the journal alone. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { viewRowsOf } from '../../src/actors/entities.ts'
import { placedHost } from '../support/placedHost.ts'
import type { PlacementLab } from '../support/placementLab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { type Source, openTestStore } from '../support/stores.ts'

const DAY_MS = 86_400_000
/** From the decision to its end, of which a busy machine may need some for the decision. */
const SHORT_MS = 3000
const NOTE = { by: 'operator', reason: 'Nova has it' }

export const ignoredDriftContract = (lab: () => PlacementLab, stores: Source = openTestStore): void => {
  test('what is ignored outlives the process and a rebuild of the views, and so does its end', async () => {
    const [store, placing] = [await stores(Date.now), lab()]
    const first = await placedHost(placing, { stores: async () => store })
    const { host, card, control, plane } = first
    await placing.setTraits(card.uuid, ['OWNER_CYBORG', 'OWNER_NOVA'])
    await first.heal()
    const [entry] = (await first.drift()).entries
    expect(entry).toMatchObject({ kind: 'provider', state: 'placement_conflict', ignored: null })
    const wish = { host, difference: entry!.uuid, until: Date.now() + DAY_MS }
    const row = value(await control.drift.ignore(NOVA, wish, NOTE))
    expect(row).toMatchObject({ hostname: host, reason: NOTE.reason, difference_reason: entry!.reason, ended: null })
    expect(await control.drift.ignore(NOVA, { ...wish, difference: randomUUID() }, NOTE)).toMatchObject({ ok: false })
    await plane.stop()
    const next = await openPlane({ placement: placing.placement }, store)
    const seen = async () => ({
      listed: value(await next.control.drift.ignored(host, {})).items,
      one: value(await next.control.drift.ignoredOne(entry!.uuid)),
      drift: value(await next.control.drift.list(host, {})).items[0]!.entries.map(({ ignored }) => ignored?.reason),
    })
    const before = await seen()
    expect(before).toEqual({ listed: [row], one: row, drift: [NOTE.reason] })
    await store.rebuildViews(viewRowsOf)
    expect(await seen()).toEqual(before)
    const ended = value(await next.control.drift.unignore(NOVA, entry!.uuid, { by: 'another', reason: 'it is ours' }))
    expect(ended.ended).toMatchObject({ by: 'another', reason: 'it is ours' })
    await store.rebuildViews(viewRowsOf)
    expect(await seen()).toEqual({ listed: [], one: ended, drift: [undefined] })
    await next.plane.stop()
  })
  test('what is ignored ends by itself when its time is over, and a rebuild of the views keeps the end', async () => {
    const [store, placing] = [await stores(Date.now), lab()]
    const placed = await placedHost(placing, { stores: async () => store })
    const { host, card, control } = placed
    await placing.setTraits(card.uuid, ['OWNER_CYBORG', 'OWNER_NOVA'])
    await placed.heal()
    const [entry] = (await placed.drift()).entries
    const wish = { host, difference: entry!.uuid, until: Date.now() + SHORT_MS }
    expect(value(await control.drift.ignore(NOVA, wish, NOTE))).toMatchObject({ until_at: wish.until, ended: null })
    const isRecorded = async () => (await control.drift.ignoredOne(entry!.uuid)).ok
    await expect.poll(isRecorded, { timeout: 30_000 }).toBe(false)
    expect(Date.now()).toBeGreaterThanOrEqual(wish.until)
    const seen = async () => ({
      listed: value(await control.drift.ignored(host, {})).items,
      recorded: await isRecorded(),
      drift: (await placed.drift()).entries.map(({ uuid, ignored }) => ({ uuid, ignored })),
      ends: (await store.journal.feed('', 1000))
        .flatMap(({ events }) => events)
        .filter(({ type }) => type === 'DriftIgnoringOver'),
    })
    const after = {
      listed: [],
      recorded: false,
      drift: [{ uuid: entry!.uuid, ignored: null }],
      ends: [{ type: 'DriftIgnoringOver', uuid: entry!.uuid }],
    }
    expect(await seen()).toEqual(after)
    await store.rebuildViews(viewRowsOf)
    expect(await seen()).toEqual(after)
    await placed.stop()
  })
}
