/** The views of a store must be what a rebuild makes of its journal, to the byte. */
import { expect } from 'vitest'
import { viewRowsOf } from '../../src/actors/entities.ts'
import type { Store } from '../../src/persistence/store.ts'

export const viewsOf = async (store: Store): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of store.dumpViews()) lines.push(line)
  return lines
}

export const expectRebuilt = async (store: Store): Promise<void> => {
  const were = await viewsOf(store)
  await store.rebuildViews(viewRowsOf)
  expect(await viewsOf(store)).toEqual(were)
}
