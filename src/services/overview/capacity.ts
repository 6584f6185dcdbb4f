/**
 * The capacity part of the control port: how many accelerators of each kind there are, and how many can be granted,
 * from the views.
 */
import { type Outcome, done } from '../../vocabulary/fault.ts'
import { type Capacity, capacityOf } from '../../actors/capacity/tally.ts'
import type { Control } from '../../actors/control.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { keptAnswer } from './kept.ts'

/**
 * Five views are read completely, so this process computes the capacity at most once in this time, and less often if it
 * takes long (`kept.ts`).
 */
const COUNTED_FOR_MS = 5000

export const createCapacity = ({ readers, clock }: Pick<Kernel, 'readers' | 'clock'>): Control['capacity'] => {
  const count = async (): Promise<Outcome<Capacity>> => {
    const [hosts, devices, deployables, handles, orders] = await Promise.all([
      readers.list('hosts', {}, {}),
      readers.list('devices', {}, {}),
      readers.list('deployables', {}, {}),
      readers.list('handles', {}, {}),
      readers.list('pending_orders', {}, {}),
    ])
    if (!hosts.ok) return hosts
    if (!devices.ok) return devices
    if (!deployables.ok) return deployables
    if (!handles.ok) return handles
    if (!orders.ok) return orders
    const lines = capacityOf({
      hosts: hosts.value.items,
      devices: devices.value.items,
      deployables: deployables.value.items,
      handles: handles.value.items,
      orders: orders.value.items,
    })
    return done({ countedAt: clock.now(), lines })
  }
  return keptAnswer(clock, COUNTED_FOR_MS, count)
}
