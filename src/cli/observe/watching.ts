/** The observability of a program: metrics always, traces when they are enabled. */
import type { ControlPlane } from '../../services/controlPlane.ts'
import type { Bus } from '../../bus/port.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Tracer } from '../../vocabulary/trace.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { Closer } from '../closer.ts'
import { type Meter, openMeter, showProcess } from './metrics.ts'
import { observedControl } from './metricsJournal.ts'
import { openTelemetry } from './telemetry.ts'

export type Watching = { readonly meter: Meter; readonly tracer: Tracer }

export const openWatching = async (service: string, log: Log, open: Closer): Promise<Watching> => {
  const { tracer, close } = await openTelemetry(service, log)
  open.add(close)
  const meter = openMeter()
  showProcess(meter)
  return { meter, tracer }
}

/** The text by which an order is recognized; other messages to hosts are answers. */
const ORDER = '"type":"accelerando.order.'
/**
 * Counts orders that are sent again. The only orders the control side publishes itself are those that a host has not
 * answered.
 */
export const resending =
  (publish: Bus['publish'], meter: Meter | undefined): Bus['publish'] =>
  async (batch) => {
    await publish(batch)
    const orders = batch.filter(({ topic, value }) => topic === CATALOGUE.hostOrders.topic && value.includes(ORDER))
    meter?.count('orders_resent_total', {}, orders.length)
  }

export const watchedPlane = (plane: ControlPlane, meter: Meter | undefined): ControlPlane =>
  meter ? { ...plane, control: observedControl(plane.control, meter) } : plane
