/**
 * `npm run bench:signatures`: what signing costs, in processor time: a bind with host work is one order and one result, each signed once and checked
 * once. The floor is what Node's crypto needs for the same bytes by itself.
 */
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import type { BusRecord } from '../src/wire/envelope.ts'
import { orderRecord, reportRecord } from '../src/wire/message.ts'
import { createVerify, newPrivateKey, signedBytes, signerFrom } from '../src/wire/signature.ts'

const ROUNDS = 5
const EACH = 400
const UUID = '0a11ce00-0000-4000-8000-00000000000'
const head = { host: 'compute-1', slot: `${UUID}1`, number: 7, deployableUuid: `${UUID}2`, arq: `${UUID}3` }
const handle = { type: 'PCI', info: { domain: '0000', bus: '0c', device: '00', function: '1' } } as const
const order = orderRecord(
  {
    ...{
      ...head,
      type: 'PrepareSlot',
      driver: 'pci_driver',
      deployable: 'compute-1_0000:0c:00.0',
      deadline: 0,
      handle,
    },
  },
  `${UUID}1/7`,
  0,
)
const result = reportRecord(
  {
    ...{ ...head, type: 'OrderResult', bootId: `${UUID}4`, order: 'PrepareSlot', startedAt: 0, finishedAt: 5 },
    result: { status: 'done' },
  },
  `${UUID}5`,
  0,
)

const own = signerFrom(newPrivateKey())
const check = createVerify()
const bare = generateKeyPairSync('ed25519')
const bytes = signedBytes(order)
const signature = sign(null, bytes, bare.privateKey)

/** Processor time of one call, in µs: the best round, as the machine is shared. */
const cost = (work: () => unknown): number => {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let left = EACH; left > 0; left--) work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / EACH
  })
  return Math.min(...rounds)
}
const both = (record: BusRecord) => {
  const signed = own.signed(record)
  return { signs: cost(() => own.signed(record)), checks: cost(() => check(signed)) }
}

const [orders, results] = [both(order), both(result)]
const floor = {
  signs: cost(() => sign(null, bytes, bare.privateKey)),
  checks: cost(() => verify(null, bytes, bare.publicKey, signature)),
}
const row = (name: string, { signs, checks }: typeof floor) =>
  `${name.padEnd(8)} sign ${signs.toFixed(0).padStart(4)} µs   check ${checks.toFixed(0).padStart(4)} µs`
console.log([row('order', orders), row('result', results), row('floor', floor)].join('\n'))
const bind = orders.signs + orders.checks + results.signs + results.checks
const least = 2 * (floor.signs + floor.checks)
console.log(
  `a bind   ${bind.toFixed(0)} µs: ${(orders.signs + results.checks).toFixed(0)} of a control, ` +
    `${(results.signs + orders.checks).toFixed(0)} of a host; ${(bind / least).toFixed(2)} times the floor`,
)
