/**
 * `nvmf_spdk_driver` (drivers.md 3.11): the NVMe over Fabrics subsystems of the SPDK target on this host, as the target
 * itself tells them on its JSON-RPC socket.
 *
 * SPDK-1 the target is one device, each subsystem with namespaces of its own one deployable; the discovery subsystem is
 *    none;
 * SPDK-2 nothing of it can be attached to a guest by Nova, so a subsystem has no attach handle: it is shown, and never
 *    offered;
 * SPDK-3 what the target does not answer, or answers wrongly, is an error with its reason, never a shorter list.
 */
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import * as v from 'valibot'
import { messageOf } from '../vocabulary/errorText.ts'
import type { ReportedDeployable, ReportedDevice } from '../vocabulary/hardware.ts'
import { isRecord } from '../vocabulary/record.ts'
import { storable } from '../vocabulary/text.ts'
import type { Driver, HostIo } from './driver.ts'
import { attributesOf, deployableName, traitName } from './names.ts'

export type SpdkOptions = { readonly socket: string }
const SPDK_SOCKET = '/var/tmp/spdk.sock'

const ANSWER_MS = 5000
const [SUBSYSTEMS_MAX, UNIT_MAX, SAID_MAX] = [1000, 100, 1000]

const Version = v.object({ version: v.string() })
const Listener = v.object({
  trtype: v.string(),
  traddr: v.optional(v.string(), ''),
  trsvcid: v.optional(v.string(), ''),
})
const Namespace = v.object({ nsid: v.number(), bdev_name: v.optional(v.string(), '') })
const Subsystem = v.object({
  nqn: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  subtype: v.string(),
  listen_addresses: v.optional(v.array(Listener), []),
  namespaces: v.optional(v.array(Namespace), []),
  serial_number: v.optional(v.string()),
})
type Subsystem = v.InferOutput<typeof Subsystem>
const Subsystems = v.pipe(v.array(Subsystem), v.maxLength(SUBSYSTEMS_MAX))
const Bdev = v.object({
  name: v.string(),
  aliases: v.optional(v.array(v.string()), []),
  product_name: v.optional(v.string(), ''),
  block_size: v.pipe(v.number(), v.minValue(0)),
  num_blocks: v.pipe(v.number(), v.minValue(0)),
})
const Bdevs = v.array(Bdev)
const Refusal = v.object({ code: v.number(), message: v.string() })
const Answer = v.object({ id: v.number(), result: v.optional(v.unknown()), error: v.optional(Refusal) })

const READ: ReadonlySet<string> = new Set(
  [Answer, Refusal, Version, Listener, Subsystem, Namespace, Bdev].flatMap(({ entries }) => Object.keys(entries)),
)
/** Of what is read: numbers of hardware, and addresses of the network. */
const SECRET: ReadonlySet<string> = new Set(['serial_number', 'traddr'])
/**
 * Pure. What a recording of a host may hold of an answer: the members that are read here and no others, as names of
 * hosts and identifiers of namespaces, and no secrets. `standIn` replaces the identifiers in other texts.
 */
export const recordableAnswer = (answer: unknown, standIn: (text: string) => string): unknown => {
  if (typeof answer === 'string') return standIn(answer)
  if (Array.isArray(answer)) return answer.map((one) => recordableAnswer(one, standIn))
  if (!isRecord(answer)) return answer
  const read = Object.entries(answer).filter(([key]) => READ.has(key))
  return Object.fromEntries(
    read.map(([key, value]) => [key, SECRET.has(key) ? 'removed' : recordableAnswer(value, standIn)]),
  )
}

const parsed = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  where: string,
): v.InferOutput<Schema> => {
  const read = v.safeParse(schema, value, { abortEarly: true })
  if (read.success) return read.output
  const [issue] = read.issues
  throw new Error(`${where}: ${v.getDotPath(issue) ?? 'the answer'}: ${issue.message}`)
}

/** What the method answers. Throws with the name of the socket and of the method. */
const called = async <Schema extends v.GenericSchema>(
  { askSocket }: HostIo,
  socket: string,
  method: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> => {
  const where = `${socket}: ${method}`
  let answer: unknown
  try {
    answer = await askSocket(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, method }), ANSWER_MS)
  } catch (error) {
    // a recorded host has the text of the error only
    const nobody = /\b(?:ENOENT|ECONNREFUSED)\b/.test(messageOf(error))
    const what = nobody ? 'no SPDK target listens there: start nvmf_tgt, or set spdk.rpc_socket' : messageOf(error)
    throw new Error(`${where}: ${what}`, { cause: error })
  }
  const { id, result, error } = parsed(Answer, answer, where)
  if (error !== undefined) throw new Error(`${where}: ${error.message.slice(0, SAID_MAX)} (${error.code})`)
  if (id !== 1) throw new Error(`${where}: an answer to another question came`)
  return parsed(schema, result, where)
}

/** Unique for each name of a subsystem, and short enough for Placement. */
const unitOf = (nqn: string): string => {
  const plain = nqn.replaceAll(/[^A-Za-z0-9.:_-]/g, '_')
  return plain === nqn && nqn.length <= UNIT_MAX
    ? nqn
    : `${plain.slice(0, UNIT_MAX - 17)}_${createHash('sha256').update(nqn).digest('hex').slice(0, 16)}`
}
const said = (words: readonly string[]): string => storable(words.join(' ')).slice(0, SAID_MAX)

/** Pure. SPDK-1, SPDK-2 */
export const subsystemIn = (
  hostname: string,
  { nqn, listen_addresses: listeners, namespaces }: Subsystem,
  bytesOf: ReadonlyMap<string, number>,
): ReportedDeployable => {
  const kinds = [...new Set(listeners.map(({ trtype }) => trtype.toUpperCase()))].toSorted()
  const traits = ['OWNER_CYBORG', 'CUSTOM_SSD_SPDK', ...kinds.map((kind) => traitName('CUSTOM_SSD_NVMF', kind))]
  const names = namespaces.map(({ bdev_name: name }) => name)
  const bytes = names.reduce((sum, name) => sum + (bytesOf.get(name) ?? 0), 0)
  return {
    name: deployableName(hostname, unitOf(nqn)),
    numAccelerators: 0,
    driverName: 'spdk',
    attributes: [
      ...attributesOf('CUSTOM_SSD', traits),
      { key: 'nqn', value: storable(nqn) },
      {
        key: 'listeners',
        value: said(listeners.map(({ trtype, traddr, trsvcid }) => `${trtype}:${traddr}:${trsvcid}`)),
      },
      { key: 'bdevs', value: said(names) },
      { key: 'bytes', value: String(bytes) },
    ],
    handles: [],
    hostWork: false,
    programmable: false,
  }
}

export const spdkDriver = ({ socket }: SpdkOptions = { socket: SPDK_SOCKET }): Driver => ({
  name: 'nvmf_spdk_driver',
  isHere: async (io) => {
    const names = await io.list(dirname(socket)).catch((): readonly string[] => [])
    return names.includes(basename(socket))
  },
  discover: async (io): Promise<readonly ReportedDevice[]> => {
    const { version } = await called(io, socket, 'spdk_get_version', Version)
    const all = await called(io, socket, 'nvmf_get_subsystems', Subsystems)
    const bdevs = await called(io, socket, 'bdev_get_bdevs', Bdevs)
    const bytesOf = new Map(
      bdevs.flatMap(({ name, aliases, block_size: size, num_blocks: blocks }) =>
        [name, ...aliases].map((one) => [one, size * blocks] as const),
      ),
    )
    const subsystems = all
      .filter(({ subtype }) => subtype === 'NVMe')
      .toSorted((one, other) => (one.nqn < other.nqn ? -1 : 1))
    if (subsystems.length === 0) return []
    return [
      {
        type: 'SSD',
        vendor: 'SPDK',
        model: storable(version).trim().slice(0, 255) || 'SPDK',
        stdBoardInfo: JSON.stringify({ controller: 'NVMe-oF target' }),
        vendorBoardInfo: null,
        controlPath: { type: 'PATH', info: socket },
        deployables: subsystems.map((one) => subsystemIn(io.hostname, one, bytesOf)),
      },
    ]
  },
  prepare: async (_io, slot) => {
    throw new Error(`slot ${slot.uuid}: nvmf_spdk_driver offers nothing that can be attached`)
  },
  release: async () => {},
})
