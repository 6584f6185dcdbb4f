/**
 * Identifiers of different things have different types. What must not compile is marked with `@ts-expect-error`: `npm
 * run typecheck` fails when such a line compiles after all.
 */
import { describe, expect, it } from 'vitest'
import { arq, arqKey } from '../../src/actors/arq/decider.ts'
import type { Control } from '../../src/actors/control.ts'
import { deployable, deployableKey } from '../../src/actors/deployable/decider.ts'
import { deviceKey } from '../../src/actors/device/decider.ts'
import { host as hostDecider, hostKey } from '../../src/actors/host/decider.ts'
import { instance, instanceKey } from '../../src/actors/instance/decider.ts'
import type { Draft } from '../../src/actors/runtime/draft.ts'
import type { Row } from '../../src/actors/runtime/views.ts'
import type { Slot } from '../../src/drivers/driver.ts'
import type { Atlas } from '../../src/host/sections.ts'
import type { ArqUuid, DeployableUuid, EntityKey, HostName, InstanceUuid } from '../../src/identifiers.ts'
import { idOf, kindOf } from '../../src/actors/runtime/memory.ts'
import type { Order } from '../../src/wire/orders.ts'
import type { OrderResult } from '../../src/wire/reports.ts'

type Known = {
  readonly arqUuid: ArqUuid
  readonly deployableUuid: DeployableUuid
  readonly instanceUuid: InstanceUuid
  readonly host: HostName
  readonly order: Extract<Order, { readonly type: 'PrepareSlot' }>
  readonly result: OrderResult
  readonly row: Row<'handles'>
}

/** Never called: it is here to be compiled. */
const swapped = (draft: Draft, control: Control, known: Known, atlas: Atlas) => {
  const { arqUuid, deployableUuid, instanceUuid, host, order, result, row } = known
  return [
    // @ts-expect-error -- a deployable is no accelerator request
    arqKey(deployableUuid),
    // @ts-expect-error -- an accelerator request is no deployable
    deployableKey(arqUuid),
    // @ts-expect-error -- a deployable is no device
    deviceKey(deployableUuid),
    // @ts-expect-error -- an instance is no host
    hostKey(instanceUuid),
    // @ts-expect-error -- a key is no identifier
    arqKey(arqKey(arqUuid)),
    // @ts-expect-error -- the key of one kind is not read as another kind
    draft.state(arq, deployableKey(deployableUuid)),
    // @ts-expect-error -- nor decided as another kind
    draft.decide(deployable, arqKey(arqUuid), { type: 'SetPresence', presence: 'missing' }),
    // @ts-expect-error -- an identifier is no key
    draft.state(arq, arqUuid),
    // @ts-expect-error -- a host is no handle
    control.handles.get({} as never, host),
    // @ts-expect-error -- the instance is not the accelerator request
    control.arqs.removeByInstance({} as never, arqUuid),
    // @ts-expect-error -- columns of a view are identifiers too
    arqKey(row.deployable_uuid),
    // @ts-expect-error -- so is what hosts are ordered to do
    deployableKey(order.slot),
    // @ts-expect-error -- and what they report
    instanceKey(result.deployableUuid),
    // @ts-expect-error -- and what drivers are handed
    { uuid: order.deployableUuid, deployable: '', type: 'PCI', info: {} } satisfies Slot,
    // @ts-expect-error -- an accelerator request is no handle
    draft.state(deployable, deployableKey(deployableUuid)).handles[arqUuid],
    // @ts-expect-error -- nor a deployable a part of a bind
    draft.state(instance, instanceKey(instanceUuid)).arqs[deployableUuid],
    // @ts-expect-error -- deployables of a host are found by name, not by UUID
    draft.state(hostDecider, hostKey(host)).devices['']?.deployables[deployableUuid],
    // @ts-expect-error -- a deployable is no image
    draft.decide(deployable, deployableKey(deployableUuid), { type: 'ReadImage', image: deployableUuid, mark: '' }),
    // @ts-expect-error -- the driver comes before the deployable
    atlas.deviceOf(order.deployable, order.driver),
  ]
}

/** Never called: each of these must compile. */
const allowed = (draft: Draft, { arqUuid, order, row }: Known) => {
  const text: string = arqUuid
  const keys: readonly EntityKey[] = [arqKey(text), deployableKey('of any text'), hostKey(order.host)]
  return [
    keys,
    draft.state(arq, arqKey(arqUuid)),
    deployableKey(row.deployable_uuid),
    deployableKey(order.deployableUuid),
  ]
}

describe('keys of entities', () => {
  it('consist of a kind and an identifier, and each can be told from the other', () => {
    const keys = [arqKey('a'), deployableKey('b'), deviceKey('c'), hostKey('d/e'), instanceKey('f')]
    expect(keys).toEqual(['arq/a', 'deployable/b', 'device/c', 'host/d/e', 'instance/f'])
    expect(keys.map(kindOf)).toEqual(['arq', 'deployable', 'device', 'host', 'instance'])
    expect(keys.map(idOf)).toEqual(['a', 'b', 'c', 'd/e', 'f'])
    expect([swapped, allowed].map((compiled) => typeof compiled)).toEqual(['function', 'function'])
  })
})
