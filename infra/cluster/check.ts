/** Performs one bind through the load balancer, as Nova would. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Deployable, clientOf } from '../../test/e2e/client.ts'

const HARDWARE_MS = 30_000

/** The inventory of a host appears shortly after its program is ready. */
const hardware = async (client: ReturnType<typeof clientOf>): Promise<readonly [Deployable, string]> => {
  const end = performance.now() + HARDWARE_MS
  for (;;) {
    const [[device], [place]] = [await client.devices(), await client.deployables()]
    if (device !== undefined && place !== undefined) return [place, device.hostname]
    if (performance.now() > end) throw new Error(`no host has reported hardware after ${HARDWARE_MS / 1000} s`)
    await wait(100)
  }
}

/** Resolves with a description of the result; rejects when the bind failed. */
export const checked = async (base: string): Promise<string> => {
  const client = clientOf(base)
  const [place, hostname] = await hardware(client)
  const began = performance.now()
  const { uuid, state } = await client.bind(place, hostname)
  const tookMs = performance.now() - began
  if (state !== 'Bound') throw new Error(`ARQ ${uuid} on ${hostname} is ${state}, not Bound`)
  await client.wanted(204, 'DELETE', `/accelerator_requests?arqs=${uuid}`)
  return `ARQ ${uuid} on ${hostname} was Bound ${tookMs.toFixed(0)} ms after it was requested`
}
