/** What a dry run answers to writes that it does not make. */
import { expect, test } from 'vitest'
import { unwritten } from '../../src/services/placement/fence.ts'
import { placementInMemory } from '../support/placement.ts'
import { id } from './placementScenes.ts'

test('a provider that would be made is shown as Placement shows a new one', async () => {
  const { placement: port, ask } = placementInMemory()
  ask('POST', '/resource_providers', { uuid: id(1), name: 'h1', parent_provider_uuid: null })
  const made = { uuid: id(2), name: 'h1_card', parent: id(1) }
  expect(await unwritten(port).create(made)).toEqual({ ok: true, value: { ...made, root: id(1), generation: 0 } })
  const really = await port.create(made)
  expect(really).toEqual({ ok: true, value: { ...made, root: id(1), generation: 0 } })
})
