/**
 * The load balancer of infra/compose, a real HAProxy with its own file, before two real controls with their consoles; a
 * third is never there.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Balancer, openBalancer } from '../support/haproxy.ts'
import { freshPrefix, kafkaServer } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { type Database, freshDatabase } from '../support/postgres.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'

const START_MS = 120_000
const folder = tempFolder('balancer')
/** Loopback addresses of their own, on which the controls have the ports that the file of HAProxy names. */
const net = `127.${randomInt(1, 255)}.${randomInt(256)}`
const ADDRESSES = new Map([
  ['control-1', `${net}.1`],
  ['control-2', `${net}.2`],
])
type Answer = { readonly status: number; readonly text: string }

describeWith('postgres', 'the load balancer of the compose file', (bin) =>
  describeWith('kafka', 'before controls over Kafka', (rig) =>
    describeWith('haproxy', 'as HAProxy', (program) => {
      let database: Database
      let balancer: Balancer
      let [api, ui] = ['', '']
      const controls = new Map<string, Service>()
      let start: (name: string) => Promise<void>

      const ask = async (url: string, init: RequestInit = {}): Promise<Answer> => {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) })
        return { status: response.status, text: await response.text() }
      }
      const served = async (url: string): Promise<void> => {
        const end = performance.now() + START_MS
        for (;;) {
          const { status, text } = await ask(url).catch((error: unknown) => ({ status: 0, text: String(error) }))
          if (status === 200) return
          if (performance.now() > end) throw new Error(`${url}: ${status} ${text}; ${balancer.said().slice(-2000)}`)
          await sleep(100)
        }
      }

      /** Until HAProxy sends requests to the server, which it also does until a first check has failed. */
      const used = async (name: string): Promise<void> => {
        const end = performance.now() + START_MS
        const isUp = (server: string): boolean => {
          const said = balancer.said()
          const down = said.lastIndexOf(`Server ${server} is DOWN`)
          return down < 0 || said.includes(`Server ${server} is UP`, down)
        }
        const back = () => ['controls', 'consoles'].every((backend) => isUp(`${backend}/${name}`))
        while (!back()) {
          if (performance.now() > end) throw new Error(`${name} is not up: ${balancer.said().slice(-2000)}`)
          await sleep(100)
        }
      }

      beforeAll(async () => {
        const { options } = await kafkaServer(rig)
        database = await freshDatabase(bin)
        // the admin listeners are those of one machine here, which trust its own names alone
        const env = { ACCELERANDO_KAFKA_PREFIX: freshPrefix(), ACCELERANDO_API_TRUSTED_HOSTS: 'control' }
        const shared = ['--database', database.url, '--kafka', options.brokers.join(','), '--auth', 'noauth']
        start = async (name) => {
          const at = ADDRESSES.get(name)!
          const own = ['--listen', `${at}:6666`, '--ui-listen', `${at}:6670`, '--admin-listen', `${at}:6671`]
          const args = ['control', '--noauth-anywhere', ...shared, ...own]
          controls.set(name, await startService({ args, env }, START_MS))
        }
        const ports = { api: await freePort(), ui: await freePort() }
        ;[api, ui] = [`http://127.0.0.1:${ports.api}`, `http://127.0.0.1:${ports.ui}`]
        balancer = await openBalancer(folder.path, { program, ...ports }, ADDRESSES)
        for (const name of ADDRESSES.keys()) await start(name)
        for (const name of ADDRESSES.keys()) await used(name)
        await Promise.all([served(`${api}/v2`), served(`${ui}/ui/hosts`)])
      }, 3 * START_MS)
      afterAll(async () => {
        await balancer?.end()
        await Promise.all([...controls.values()].map((control) => control.end('SIGKILL')))
        await database?.drop()
        folder.remove()
      }, START_MS)

      test('the one address is the API, the other the console, and both know what was made', async () => {
        const name = `fpga-${randomUUID()}`
        const made = await ask(`${api}/v2/device_profiles`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([{ name, groups: [{ 'resources:FPGA': '1' }] }]),
        })
        expect(made.status, made.text).toBe(201)
        for (const url of [`${api}/v2/device_profiles`, `${ui}/ui/profiles`]) {
          const { status, text } = await ask(url)
          expect([status, text.includes(name)], url).toEqual([200, true])
        }
        expect((await ask(`${api}/ui/hosts`)).status).toBe(404)
      })

      test.each([...ADDRESSES.keys()])(
        'while %s alone is killed, nobody misses it',
        { timeout: START_MS },
        async (name) => {
          await controls.get(name)!.end('SIGKILL')
          for (let turn = 0; turn < 10; turn++)
            for (const url of [`${api}/v2/devices`, `${ui}/ui/hosts`]) expect((await ask(url)).status, url).toBe(200)
          await start(name)
          // known again to the balancer: the next test kills the other one
          await used(name)
        },
      )
    }),
  ),
)
