/** Somebody who may write to the topics and holds no key: forges orders and results from what was sent before. */
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { orderRecord, reportRecord } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { CLOUD_HEADER } from '../../src/wire/seal.ts'
import { SIGNER_HEADER, type Verify, createVerify, signerFrom } from '../../src/wire/signature.ts'
import { privateKeyOf, signerOf } from '../support/keys.ts'
import { withMac } from '../support/macs.ts'
import type { Stage } from './stage.ts'
import type { Bite } from './lies.ts'
import type { Random } from './random.ts'

/** Whose key the controls have, and each host: the same after any loss of a disk. */
export const CLOUD_KEY = privateKeyOf('cloud')
export const hostKeyOf = (name: string): string => privateKeyOf(`host ${name}`)

/**
 * What checks signatures and MACs for the holder of this key. With one planted bug every message is from whom it names,
 * with the other a message that any host has signed is from the host that it is about.
 */
export const verifierOf = (bite: Bite | null, privateKey: string): Verify => {
  if (bite === 'signatures unchecked') return ({ headers }) => ({ signer: headers[SIGNER_HEADER] ?? null })
  const verify = createVerify(signerFrom(privateKey))
  if (bite !== 'any host believed' || privateKey !== CLOUD_KEY) return verify
  return (record) => {
    const verified = verify(record)
    return 'wrong' in verified ? verified : { signer: signerOf(`host ${record.key}`).publicKey }
  }
}

const FORGER = 'forger'
/** With a signature or a MAC of its own. `receiver`: the name of its key. */
const proved = (random: Random, record: BusRecord, receiver: string): BusRecord =>
  random.chance(0.5) ? signerOf(FORGER).signed(record) : withMac(record, FORGER, receiver)
/** Names the key of somebody else as its signer. */
const inTheNameOf = (publicKey: string, { headers, ...record }: BusRecord): BusRecord => ({
  ...record,
  headers: { ...headers, [SIGNER_HEADER]: publicKey },
})

/** The order as if it had been carried out. */
const resultOf = (order: Order, bootId: string, at: number): BusRecord =>
  reportRecord(
    {
      ...{ type: 'OrderResult', host: order.host, bootId, order: order.type, slot: order.slot, number: order.number },
      deployableUuid: order.deployableUuid,
      ...('arq' in order ? { arq: order.arq } : {}),
      ...{ startedAt: at, finishedAt: at, result: { status: 'done' } },
    },
    `forged ${order.slot} ${order.number} ${at}`,
    at,
  )
/** The numbers of genuine orders are far below: the host leaves those alone from then on. */
const FAR = 1000
/** The opposite of the order, as a newer one. */
const releaseOf = (order: Order, cluster: string, at: number): BusRecord => {
  const newer = { ...order, type: 'ReleaseSlot', number: order.number + FAR } as Order
  const record = orderRecord(newer, `forged ${order.slot} ${newer.number} ${at}`, at)
  return { ...record, headers: { ...record.headers, [CLOUD_HEADER]: cluster } }
}

const forgeryOf = (random: Random, { order, bootId, cluster, at }: Known): BusRecord => {
  const [cloud, host] = ['cloud', `host ${order.host}`]
  if (random.chance(0.5))
    return inTheNameOf(signerOf(cloud).publicKey, proved(random, releaseOf(order, cluster, at), host))
  const result = proved(random, resultOf(order, bootId, at), cloud)
  return random.chance(0.5) ? result : inTheNameOf(signerOf(host).publicKey, result)
}
type Known = { readonly order: Order; readonly bootId: string; readonly cluster: string; readonly at: number }

const { hostOrders, hostReports } = CATALOGUE
/** Forges something about one of the last preparations of a slot. */
const forgeOnce = (stage: Stage, cluster: string): void => {
  const { random, network, now } = stage
  const { stored, poison } = network()
  const bodies = (topic: string) => stored.flatMap((message) => (message.topic === topic ? [message.body] : []))
  const orders = (bodies(hostOrders.topic) as readonly Order[]).filter(({ type }) => type === 'PrepareSlot').slice(-5)
  if (orders.length === 0) return
  const order = random.pick(orders)
  const reports = bodies(hostReports.topic) as readonly { readonly host: string; readonly bootId: string }[]
  const last = reports.findLast(({ host }) => host === order.host)
  if (last) poison(forgeryOf(random, { order, bootId: last.bootId, cluster, at: now() }))
}

export const forges = (stage: Stage): void => {
  const { random, schedule, life, store, say } = stage
  const count = random.between(5, 40)
  say(`fault: somebody forges ${count} messages`)
  void store.store
    .cloud(() => CLOUD_KEY)
    .then(({ id }) => {
      for (let left = count; left > 0; left--) schedule.after(life, random.below(20_000), () => forgeOnce(stage, id))
    })
}
