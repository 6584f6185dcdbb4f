/**
 * Lists of accelerator requests: what each filter leaves, alone and together with others, for each kind of caller
 * (rest-api 9.5).
 */
import { expect, test } from 'vitest'
import type { Caller } from '../../src/actors/control.ts'
import { GPU, openCloud } from './cloud.ts'
import { NOVA, TENANT, value } from '../support/plane.ts'

const opened = async () => {
  const cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, {}, undefined, 'at once')
  const [first, second] = [await cloud.start(), await cloud.start()]
  await cloud.pump()
  const [free] = await cloud.create()
  const names = new Map([
    [first.arq, 'first'],
    [second.arq, 'second'],
    [free!, 'free'],
  ])
  const listed = async (caller: Caller, where: Parameters<typeof cloud.control.arqs.list>[1]) =>
    value(await cloud.control.arqs.list(caller, where, {})).items.map(({ uuid }) => names.get(uuid))
  return { ...cloud, first, second, free: free!, listed }
}
const STRANGER: Caller = { ...TENANT, projectId: 'another' }
const SERVICE: Caller = { ...STRANGER, isService: true }

test('requests are listed by their UUIDs, by their instance, and as far as they are resolved', async () => {
  const { first, second, free, listed, stop } = await opened()
  expect(await listed(NOVA, {})).toEqual(['first', 'second', 'free'])
  expect(await listed(NOVA, { uuids: [second.arq] })).toEqual(['second'])
  expect(await listed(NOVA, { uuids: [free, first.arq] })).toEqual(['first', 'free'])
  expect(await listed(NOVA, { uuids: [] })).toEqual([])
  expect(await listed(NOVA, { instance: first.instance })).toEqual(['first'])
  expect(await listed(NOVA, { instance: first.instance, uuids: [second.arq] })).toEqual([])
  expect(await listed(NOVA, { resolvedOnly: true })).toEqual(['first', 'second'])
  expect(await listed(NOVA, { uuids: [free, second.arq], resolvedOnly: true })).toEqual(['second'])
  await stop()
})

test('a project sees its own, and a service the instance that it asks for', async () => {
  const { first, second, listed, stop } = await opened()
  expect(await listed(TENANT, {})).toEqual(['first', 'second', 'free'])
  expect(await listed(TENANT, { uuids: [second.arq] })).toEqual(['second'])
  expect(await listed(STRANGER, {})).toEqual([])
  expect(await listed(STRANGER, { uuids: [second.arq] })).toEqual([])
  expect(await listed(SERVICE, {})).toEqual([])
  expect(await listed(SERVICE, { instance: first.instance })).toEqual(['first'])
  expect(await listed(SERVICE, { instance: first.instance, uuids: [second.arq] })).toEqual([])
  await stop()
})
