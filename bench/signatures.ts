/**
 * `npm run bench:signatures`: what it costs to say who sent a message, in processor time: a bind with host work is one
 * order and one result, each made once and checked once. The floor is what Node's crypto needs for the same bytes by
 * itself.
 */
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import type { BusRecord } from '../src/wire/envelope.ts'
import { orderRecord, reportRecord } from '../src/wire/message.ts'
import { type Signer, createVerify, newPrivateKey, signedBytes, signerFrom } from '../src/wire/signature.ts'

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

/** Processor time of one call, in µs: the best round, as the machine is shared. */
const cost = (work: () => unknown, each = EACH): number => {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let left = each; left > 0; left--) work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / each
  })
  return Math.min(...rounds)
}
type Costs = { readonly makes: number; readonly checks: number }

const row = (name: string, { makes, checks }: Costs): string =>
  `  ${name.padEnd(7)} make ${makes.toFixed(1).padStart(6)} µs   check ${checks.toFixed(1).padStart(6)} µs`
const [control, host] = [signerFrom(newPrivateKey()), signerFrom(newPrivateKey())]
const report = (floor: Costs): void => {
  const both = (by: Signer, to: Signer, record: BusRecord): Costs => {
    const [check, sealed] = [createVerify(to), by.signed(record)]
    if ('wrong' in check(sealed)) throw new Error(JSON.stringify(check(sealed)))
    return { makes: cost(() => by.signed(record)), checks: cost(() => check(sealed)) }
  }
  const [orders, results] = [both(control, host, order), both(host, control, result)]
  console.log([row('order', orders), row('result', results), row('floor', floor)].join('\n'))
  const bind = orders.makes + orders.checks + results.makes + results.checks
  console.log(
    `  a bind ${bind.toFixed(0)} µs: ${(orders.makes + results.checks).toFixed(0)} of a control, ` +
      `${(results.makes + orders.checks).toFixed(0)} of a host; ` +
      `${(bind / (2 * (floor.makes + floor.checks))).toFixed(2)} times the floor`,
  )
}

const bare = generateKeyPairSync('ed25519')
const bytes = signedBytes(order)
const signature = sign(null, bytes, bare.privateKey)
report({
  makes: cost(() => sign(null, bytes, bare.privateKey)),
  checks: cost(() => verify(null, bytes, bare.publicKey, signature)),
})
