/**
 * A real Placement behind a proxy that fails: the client says nothing that it does not know, and a service that is
 * killed at any of its writes converges (T8). The program has its own store here: nobody else can have a pass under
 * way, so the next process need not wait for the end of one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placementFaultsContract } from '../contracts/placementFaults.contract.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type FaultyProxy, faultyProxy } from '../neighbours/faultyProxy.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type PlacementLab, placementLab } from '../support/placementLab.ts'
import { type Program, runProgram, startService, tempFolder } from '../support/program.ts'
import { signIn } from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

/** Of the simulated host, and what stands below it in the end. */
const [NODE, DEVICES] = ['sim-1', 2]
const LIVES_MAX = 25
const LIFE_MS = 120_000

describeWith(CLOUD, 'beside a real Placement that fails', (rig) => {
  const folder = tempFolder('placement-faults')
  let cloud: RiggedCloud
  let proxy: FaultyProxy
  /** Past the proxy. */
  let lab: PlacementLab
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    lab = placementLab(sessionOptions(cloud.authUrl))
    proxy = await faultyProxy(cloud.placementUrl)
    await lab.placement.owned()
    await cloud.restart(proxy.url)
  }, START_MS)
  afterAll(async () => {
    await lab?.close()
    await proxy?.close()
    await cloud?.stop()
    folder.remove()
  })

  placementFaultsContract(() => ({
    authUrl: cloud.authUrl,
    proxy,
    withoutKeystone: async (work) => {
      await cloud.signalKeystone('STOP')
      try {
        await work()
      } finally {
        await cloud.signalKeystone('CONT')
      }
    },
  }))

  describe('T8 SIGKILL between the calls of a service', () => {
    const env = () => ({
      ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: cloud.authUrl,
      ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: 'cyborg',
      ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret',
      ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: 'service',
    })
    const args = (data: string): readonly string[] => [
      ...['start', '--auth', 'keystone', '--data', data, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
      ...['--demo-hosts', '1', '--demo-devices', String(DEVICES)],
    ]
    const isWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method !== 'GET' && path.startsWith('/resource')
    const below = async (root: string) => {
      const tree = await lab.placement.tree(root)
      if (!tree.ok) throw new Error(tree.reason)
      return tree.value.filter(({ uuid }) => uuid !== root)
    }
    const isComplete = async (root: string): Promise<boolean> => {
      const providers = await below(root)
      const whole = await Promise.all(
        providers.map(async ({ uuid }) => {
          const [inventories, traits] = [await lab.placement.inventories(uuid), await lab.placement.traits(uuid)]
          if (!inventories.ok || !traits.ok) return false
          return Object.keys(inventories.value.inventories).length === 1 && traits.value.traits.includes('OWNER_CYBORG')
        }),
      )
      return providers.length === DEVICES && whole.every(Boolean)
    }
    /**
     * Kills the process at its n-th write: before that is carried out, or after. False: all was complete before it got
     * there.
     */
    const killedAt = async (nth: number, carriedOut: boolean, program: Program, root: string): Promise<boolean> => {
      let writes = 0
      const struck = Promise.withResolvers<boolean>()
      const strike = () => {
        process.kill(program.pid, 'SIGKILL')
        struck.resolve(true)
      }
      proxy.inject({
        when: (seen) => isWrite(seen) && ++writes === nth,
        harm: {
          kind: 'first',
          run: () => (strike(), carriedOut ? null : Promise.reject(new Error('not carried out'))),
        },
      })
      const whole = async () => {
        for (let left = LIFE_MS / 250; left > 0; left--) {
          if (await isComplete(root)) return false
          await sleep(250)
        }
        throw new Error(`neither complete nor killed after ${LIFE_MS} ms: ${program.stderr().slice(-2000)}`)
      }
      const killed = await Promise.race([struck.promise, whole()])
      proxy.heal()
      return killed
    }

    test('at the first write of its life, the next one at the second, and so on: in the end each provider is there once', async () => {
      const data = join(folder.path, 'data')
      await embeddedStoreIn(join(data, 'store'))
      const [root, before] = [await lab.node(NODE), await lab.placement.owned()]
      let [lives, killed] = [0, true]
      while (killed) {
        expect(++lives).toBeLessThan(LIVES_MAX)
        const program = runProgram({ args: args(data), env: env() })
        killed = await killedAt(lives, lives % 2 === 0, program, root)
        await program.end('SIGKILL')
      }
      // each of them did what the one before had left
      expect(lives).toBeGreaterThan(3)
      const names = (await below(root)).map(({ name }) => name)
      expect(new Set(names).size).toBe(DEVICES)
      const [after, kept] = [await lab.placement.owned(), before.ok && before.value.length]
      expect(after.ok && after.value.length).toBe(Number(kept) + DEVICES)
      // and the last one has nothing left to do
      const service = await startService({ args: args(data), env: env() }, LIFE_MS)
      try {
        const { token } = await signIn(cloud.authUrl, 'admin', { project: 'admin' })
        const drift = async () => {
          const answer = await fetch(`${service.base}/drift`, { headers: { 'x-auth-token': token } })
          const { drift: hosts } = (await answer.json()) as {
            readonly drift: readonly { readonly host: string; readonly trouble: unknown; readonly entries: unknown[] }[]
          }
          return hosts.filter(({ host }) => host === NODE).map(({ trouble, entries }) => [trouble, entries])
        }
        const began = proxy.asked.length
        await expect.poll(drift, { timeout: 60_000, interval: 500 }).toEqual([[null, []]])
        expect(proxy.asked.slice(began).filter((line) => /^(POST|DELETE|PUT) .*resource_providers/.test(line))).toEqual(
          [],
        )
      } finally {
        await service.end('SIGTERM')
      }
    }, 600_000)
  })
})
