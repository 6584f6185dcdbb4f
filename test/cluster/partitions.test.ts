/** An operator adds partitions to the topics while a control and two hosts run. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { readTopics } from '../../src/bus/kafka/read.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { Arq, Deployable } from '../e2e/client.ts'
import { type ControlMember, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { freshPrefix, kafkaServer, makeTopics } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { tempFolder } from '../support/program.ts'

const LONG = 90_000
const [FEW, MANY] = [2, 12]
const HOSTS = ['compute1', 'compute2'] as const
const folder = tempFolder('partitions')
let kafka: KafkaOptions
let control: ControlMember
let hosts: readonly Member[]
const places = new Map<string, Deployable>()
const profile = `fpga-${randomUUID()}`

const until = async <Value>(ask: () => Promise<Value>, holds: (value: Value) => boolean, ms = 30_000) => {
  const end = performance.now() + ms
  for (;;) {
    const value = await ask()
    if (holds(value)) return value
    if (performance.now() > end) throw new Error(`not within ${ms} ms; last: ${JSON.stringify(value)}`)
    await sleep(50)
  }
}
const bound = async (hostname: string): Promise<string> => {
  const { client } = control
  const made = await client.wanted(201, 'POST', '/accelerator_requests', { device_profile_name: profile })
  const { uuid } = (made['arqs'] as readonly Arq[])[0]!
  const values = { hostname, device_rp_uuid: places.get(hostname)!.rp_uuid, instance_uuid: randomUUID() }
  const ops = Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }))
  await client.wanted(202, 'PATCH', '/accelerator_requests', { [uuid]: ops })
  const shown = async () => (await client.wanted(200, 'GET', `/accelerator_requests/${uuid}`)) as unknown as Arq
  return (await until(shown, ({ state }) => state === 'Bound' || state === 'BindFailed')).state
}
const open = async (bin: string, rig: string): Promise<void> => {
  kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
  await makeTopics(kafka, FEW)
  const database = (await freshDatabase(bin)).url
  const testCluster = { database, brokers: kafka.brokers, prefix: kafka.prefix, folder: folder.path }
  control = await controlMember(testCluster, 'control')
  hosts = HOSTS.map((name) => hostMember(testCluster, name, { devices: 1, handles: 16, hostWork: true }))
  await Promise.all([control, ...hosts].map((member) => member.start()))
  for (const place of await until(control.client.deployables, ({ length }) => length === HOSTS.length))
    places.set(place.name.split('_')[0]!, place)
  await control.client.wanted(201, 'POST', '/device_profiles', [{ name: profile, groups: [{ 'resources:FPGA': '1' }] }])
}

describeWith('postgres', 'partitions that are added', (bin) =>
  describeWith('kafka', 'while a control and hosts run', (rig) => {
    beforeAll(() => open(bin, rig), LONG)
    afterAll(async () => {
      const alive = [control, ...hosts].filter((member) => member.running() !== null)
      await Promise.all(alive.map((member) => member.end('SIGKILL')))
      folder.remove()
    }, LONG)

    test(
      'binds go on: no order is lost, whichever partition it was written to',
      async () => {
        // both hosts move
        for (const name of HOSTS) expect(partitionOf(name, FEW)).not.toBe(partitionOf(name, MANY))
        for (const name of HOSTS) expect(await bound(name)).toBe('Bound')
        const topicPartitions = Object.values(CATALOGUE).map(({ topic }) => ({
          topic: kafka.prefix + topic,
          count: MANY,
        }))
        await lookup(kafka, silent).asking((admin) => admin.createPartitions({ topicPartitions }))
        // the running control still knows the old number
        for (const name of HOSTS) expect(await bound(name)).toBe('Bound')
        // and one that was started since knows the new one
        await control.end('SIGTERM')
        await control.start()
        for (const name of HOSTS) expect(await bound(name)).toBe('Bound')
        const used = new Map<string, Set<number>>()
        const take = ({ key, partition }: { readonly key: string; readonly partition: number }): void =>
          void used.set(key, (used.get(key) ?? new Set()).add(partition))
        const topics = [CATALOGUE.hostOrders.topic]
        await readTopics({ kafka, log: silent, topics, from: 'earliest', follow: false, take })
        for (const name of HOSTS)
          expect(used.get(name)).toEqual(new Set([partitionOf(name, FEW), partitionOf(name, MANY)]))
      },
      LONG,
    )
  }),
)
