/**
 * Asks Nova about servers.
 *
 * SERVERS-1 a server is unknown only if Nova itself says so about this UUID: the 404 of a proxy, of a wrong address or
 *    of an older Nova is unclear, and so is every other status but 200;
 * SERVERS-2 Nova answers 404 to an account without the role admin for servers of other projects. An account that may
 *    list all projects' servers sees them.
 */
import type { InstanceUuid } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { NovaServer, NovaServers } from '../actors/neighbours.ts'
import { decoded, faultText, noteOf } from './novaAnswer.ts'
import type { NovaAnswer, NovaCall } from './novaCall.ts'
import { reasonOf } from './openstack/send.ts'

const TEXT_MAX = 255
const NODE = 'OS-EXT-SRV-ATTR:hypervisor_hostname'
const Text = v.pipe(v.string(), v.maxLength(TEXT_MAX))
const Server = v.object({ server: v.object({ id: v.string(), status: Text, [NODE]: v.nullish(Text) }) })
const Gone = v.object({ itemNotFound: v.object({ message: v.string() }) })
const Servers = v.object({ servers: v.array(v.unknown()) })

const unclear = (reason: string): NovaServer => ({ is: 'unclear', reason: noteOf(reason) })
const saidBy = ({ status, text }: NovaAnswer): string => `Nova answered ${status}: ${faultText(text)}`

/** Interprets Nova's answer about a server. Pure. */
const serverIn = (uuid: InstanceUuid, answer: NovaAnswer): NovaServer => {
  const body = decoded(answer.text)?.value
  if (answer.status === 404) {
    const gone = v.safeParse(Gone, body)
    const isMeant = gone.success && gone.output.itemNotFound.message.toLowerCase().includes(uuid)
    return isMeant ? { is: 'unknown' } : unclear(saidBy(answer))
  }
  const shown = answer.status === 200 ? v.safeParse(Server, body) : null
  if (!shown?.success || shown.output.server.id.toLowerCase() !== uuid) return unclear(saidBy(answer))
  const { status, [NODE]: node } = shown.output.server
  return { is: 'known', status, node: node || null }
}

const blindBy = (answer: NovaAnswer): string | null => {
  if (answer.status === 403)
    return 'the account for Nova needs the role admin: it may not list the servers of all projects'
  if (answer.status === 200 && v.is(Servers, decoded(answer.text)?.value)) return null
  return noteOf(saidBy(answer))
}

export const serversThrough = (call: NovaCall, timeoutMs: number): NovaServers => {
  const asked = async <Value>(path: string, read: (answer: NovaAnswer) => Value, failed: (reason: string) => Value) => {
    try {
      return read(await call({ method: 'GET', path }))
    } catch (error) {
      return failed(`Nova does not answer: ${reasonOf(error, timeoutMs)}`)
    }
  }
  return {
    server: (uuid) => asked(`/servers/${encodeURIComponent(uuid)}`, (answer) => serverIn(uuid, answer), unclear),
    blind: () => asked('/servers?all_tenants=true&limit=1', blindBy, noteOf),
  }
}
