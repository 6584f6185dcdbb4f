/** Cases of the whole form: many servers at once, and a service that is away while servers boot. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { FPGA, NOTHING, heldBy, rightlyBound, tidied } from './boots.ts'
import { type NovaService, UNITS } from './service.ts'

const CROWD = 50
/** A server takes longer while many boot. */
const CROWD_MS = 300_000

export const troubles = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service), CROWD_MS)

  test(
    'of 50 servers at once none shares a handle, those that find no host hold nothing, and every unit can be had',
    async () => {
      const { users } = service
      const flavor = await users.flavor(FPGA)
      const ids = await Promise.all(Array.from({ length: CROWD }, () => users.begin(flavor)))
      const ended = await Promise.all(ids.map((id) => users.ended(id, CROWD_MS)))
      const active = ended.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id)
      for (const { id, status, fault } of ended.filter((server) => !active.includes(server.id))) {
        expect({ status, fault }).toEqual({ status: 'ERROR', fault: expect.stringContaining('No valid host') })
        expect(await heldBy(service, id)).toEqual(NOTHING)
      }
      // Nova gives up on a host when others took the units that it had chosen there: some may be left.
      while (active.length < UNITS) {
        const { id, status, fault } = await users.boot(flavor)
        expect({ status, fault }).toEqual({ status: 'ACTIVE', fault: null })
        active.push(id)
      }
      expect(active).toHaveLength(UNITS)
      const arqs = await Promise.all(active.map((id) => rightlyBound(service, id, 1)))
      expect(new Set(arqs.flat().map(({ attach_handle_uuid: handle }) => handle)).size).toBe(UNITS)
      expect(await users.boot(flavor)).toMatchObject({
        status: 'ERROR',
        fault: expect.stringContaining('No valid host'),
      })
    },
    2 * CROWD_MS,
  )

  test('a control that is killed with a bind in hand: the server is ACTIVE or ERROR, and nothing leaks', async () => {
    const { users, balancer, controls } = service
    const [, second] = controls
    await second!.end('SIGTERM')
    const [first] = controls
    balancer.before(({ method }) => {
      // The request is on its way by then, and Nova gets no answer of its own.
      if (method === 'PATCH') setTimeout(() => first!.running() && void first!.end('SIGKILL'), 10)
    })
    const server = await users.begin(await users.flavor({ 'resources:FPGA': '2' }))
    await expect.poll(() => first!.running(), { timeout: 60_000 }).toBeNull()
    balancer.before(() => undefined)
    await Promise.all(controls.map((control) => control.start()))
    const { status } = await users.ended(server)
    if (status === 'ACTIVE') await rightlyBound(service, server, 2)
    else expect(status).toBe('ERROR')
    await users.remove(server)
    expect(await heldBy(service, server)).toEqual(NOTHING)
  })

  test('both controls pause for some seconds in the middle of a boot, and the server is ACTIVE', async () => {
    const { users, balancer, controls } = service
    let paused = false
    balancer.before(({ method }) => {
      if (method !== 'PATCH' || paused) return
      paused = true
      for (const control of controls) control.pause()
      setTimeout(() => controls.forEach((control) => control.resume()), 6000)
    })
    const server = await users.boot(await users.flavor(FPGA))
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
    await rightlyBound(service, server.id, 1)
  })

  test.each(['POST', 'PATCH'])(
    'without any control when Nova sends its %s the server is in ERROR, and the next one is ACTIVE once they are back',
    async (gone) => {
      const { users, balancer, controls } = service
      const flavor = await users.flavor(FPGA)
      let ended: Promise<unknown> | null = null
      balancer.before(async ({ method }) => {
        if (method === gone) await (ended ??= Promise.all(controls.map((control) => control.end('SIGKILL'))))
      })
      const lost = await users.begin(flavor)
      await expect.poll(() => ended, { timeout: 60_000 }).not.toBeNull()
      balancer.before(() => undefined)
      const shown = await users.ended(lost)
      expect(shown.status).toBe('ERROR')
      await Promise.all(controls.map((control) => control.start()))
      const server = await users.boot(flavor)
      expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
      await rightlyBound(service, server.id, 1)
      await users.remove(lost, server.id)
    },
  )
}
