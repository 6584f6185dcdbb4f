/**
 * Identifiers of different things have different types. What must not compile is marked with `@ts-expect-error`: `npm
 * run typecheck` fails when such a line compiles after all.
 */
import { describe, expect, it } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import type { Slot } from '../../src/drivers/driver.ts'
import type { Atlas } from '../../src/host/sections.ts'
import type { ArqUuid, EntityKey, HostName } from '../../src/vocabulary/identifiers.ts'
import { idOf, kindOf } from '../../src/actors/runtime/memory.ts'
import type { Order } from '../../src/wire/orders.ts'

type Known = {
  readonly arqUuid: ArqUuid
  readonly host: HostName
  readonly order: Extract<Order, { readonly type: 'PrepareSlot' }>
}

/** Never called: it is here to be compiled. */
const swapped = (control: Control, known: Known, atlas: Atlas) => {
  const { arqUuid, host, order } = known
  return [
    // @ts-expect-error -- a host is no handle
    control.handles.get({} as never, host),
    // @ts-expect-error -- the instance is not the accelerator request
    control.arqs.removeByInstance({} as never, arqUuid),
    // @ts-expect-error -- and what drivers are handed
    { uuid: order.deployableUuid, deployable: '', type: 'PCI', info: {} } satisfies Slot,
    // @ts-expect-error -- the driver comes before the deployable
    atlas.deviceOf(order.deployable, order.driver),
  ]
}

describe('keys of entities', () => {
  it('consist of a kind and an identifier, and each can be told from the other', () => {
    const keys: readonly EntityKey[] = ['arq/a', 'deployable/b', 'device/c', 'host/d/e', 'instance/f']
    expect(keys.map(kindOf)).toEqual(['arq', 'deployable', 'device', 'host', 'instance'])
    expect(keys.map(idOf)).toEqual(['a', 'b', 'c', 'd/e', 'f'])
    expect(typeof swapped).toBe('function')
  })
})
