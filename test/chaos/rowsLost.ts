/**
 * What happens when the database comes back without rows that it had acknowledged, and what an operator does then: he
 * looks at what is lost, adopts what is left, ends the guests of lost requests, and releases the handles that are
 * withheld because of them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { idOf } from '../../src/actors/runtime/memory.ts'
import { type Account, type Life, lostAt } from '../kill/account.ts'
import type { Cloud } from '../kill/cloud.ts'
import { type Client, insist } from '../kill/life.ts'
import { sqlOnce } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { type World, allReady, readyz } from './world.ts'

export type Operated = {
  readonly world: World
  readonly account: Account
  readonly client: Client
  readonly cloud: Cloud
  readonly say: (line: string) => void
}

/**
 * A control needs up to 7 s to notice that its server is gone, and 5 s to reach the next one; on a busy machine longer.
 */
const NOTICED_MS = 60_000
const LOOK_MS = 200
const REASON = /writing is stopped: the database has lost rows.*accelerando migrate --adopt/
const BY = 'migrate --adopt'

/** Every control says why it cannot write. Then each of them has looked for what it knew. */
const stoppedEverywhere = async ({ controls }: World): Promise<boolean> => {
  for (const until = Date.now() + NOTICED_MS; Date.now() < until; await sleep(LOOK_MS)) {
    const said = await Promise.all(controls.map(readyz))
    if (said.every((one) => one?.code === 503 && REASON.test(one.reason ?? ''))) return true
  }
  return false
}
const refuses = async ({ controls, openstack }: World): Promise<readonly string[]> => {
  const statuses = await Promise.all(
    controls.map(async ({ name, origin }) => {
      const profile = { name: `stopped-${name}-${Date.now()}`, groups: [{ 'resources:FPGA': '1' }] }
      const { status } = await fetch(`${origin}/v2/device_profiles`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...openstack?.headers },
        body: JSON.stringify([profile]),
      })
      return status === 503 ? [] : [`${name} answers ${status} while writing is stopped`]
    }),
  )
  return statuses.flat()
}
/** What the command prints, and how it ends. */
const migrate = async ({ url }: World, flag: '--check' | '--adopt') => {
  const program = runProgram({ args: ['migrate', flag, '--database', url()] })
  const { code } = await program.exited
  return { code, said: program.stdout(), complained: program.stderr() }
}
const linesOf = (said: string, word: string): number => said.split('\n').filter((line) => line.startsWith(word)).length

/** Which instances and ARQs have lost rows, as the database declares it, and when that was by this machine's clock. */
const declare = async ({ world: { url, losses }, account: { lost } }: Operated): Promise<void> => {
  const { toMs } = losses.at(-1)!
  const { rows } = await sqlOnce(
    url(),
    `select distinct key from lost_rows where found_at >= to_timestamp(${toMs / 1000})`,
  )
  for (const { key } of rows as { key: `${string}/${string}` }[]) lost.set(idOf(key), toMs)
}

/** From the new server to the first write: nobody writes, and says why, until an operator has adopted what is left. */
export const adopted = async (operated: Operated): Promise<void> => {
  const { world, account, say } = operated
  const wrong = (what: string) => void account.contradictions.push(`after the database had lost rows, ${what}`)
  if (!(await stoppedEverywhere(world))) wrong('not every control said that writing is stopped')
  for (const one of await refuses(world)) wrong(one)
  const shown = await migrate(world, '--check')
  if (shown.code !== 7 || linesOf(shown.said, 'lost ') === 0)
    wrong(`migrate --check ended with ${shown.code}: ${shown.said}${shown.complained}`)
  const { code, said, complained } = await migrate(world, '--adopt')
  if (code !== 0 || !/^adopted what the database holds/m.test(said))
    wrong(`migrate --adopt ended with ${code}: ${said}${complained}`)
  await declare(operated)
  const counts = ['lost ', 'quarantined ', 'in use ', 'raised '].map((word) => `${word.trim()} ${linesOf(said, word)}`)
  say(`adopted: ${counts.join(', ')}; requests of ${lostLives(account).length} instances are lost`)
  if (!(await allReady(world.controls))) wrong('not every control was ready 60 s after the adoption')
}

const lostLives = (account: Account): readonly Life[] => account.lives.filter((life) => lostAt(account, life) !== null)
const isOver = ({ leftAt }: Life): boolean => leftAt !== null

/**
 * Ends what is left of a guest: a lost deletion has to be asked for again, and a guest that lost its bind has to go.
 */
const endGuest = async ({ client, cloud }: Operated, life: Life): Promise<void> => {
  life.leaveSentAt ??= Date.now()
  const path = `/accelerator_requests?arqs=${life.arqs.join(',')}`
  const { status } = await insist(client, () => client.api.call('DELETE', path))
  if (status !== 204 && status !== 404)
    client.account.contradictions.push(`the deletion of the lost ${life.arqs.join(', ')} was answered ${status}`)
  life.leftAt = Date.now()
  if (!life.kept) return
  life.kept = false
  cloud.places.find(({ uuid }) => uuid === life.deployable)!.claimed -= life.arqs.length
}

type Withheld = { readonly uuid: string; readonly deployable_uuid: string }
/** On which nobody is left who may use a handle of which rows are lost. */
const withheldOf = async ({ client, account }: Operated): Promise<readonly Withheld[]> => {
  const inUse = new Set(
    lostLives(account)
      .filter((life) => !isOver(life))
      .map(({ deployable }) => deployable),
  )
  const { body } = await insist(client, () => client.api.call('GET', '/handles?state=quarantined'))
  return (body['handles'] as readonly Withheld[]).filter(({ deployable_uuid: on }) => !inUse.has(on))
}
const release = async ({ client, account }: Operated, { uuid }: Withheld): Promise<boolean> => {
  const { body } = await insist(client, () => client.api.call('GET', `/handles/${uuid}`))
  if ((body['quarantine'] as { readonly by?: string } | null)?.by !== BY) return false
  const reason = { reason: 'no guest is left that used it' }
  const { status } = await insist(client, () => client.api.call('POST', `/handles/${uuid}/release`, reason))
  if (status !== 200) account.contradictions.push(`the release of the withheld handle ${uuid} was answered ${status}`)
  return status === 200
}

/**
 * Ends the guests of lost requests whose clients have given them up, and releases the handles that nobody can use any
 * more.
 */
export const tidied = async (operated: Operated, patienceMs: number): Promise<void> => {
  const { account, say } = operated
  const lost = lostLives(account)
  if (lost.length === 0) return
  const settled = (life: Life): boolean => isOver(life) || life.kept
  for (const until = Date.now() + patienceMs; !lost.every(settled) && Date.now() < until;) await sleep(LOOK_MS)
  for (const life of lost.filter(settled)) await endGuest(operated, life)
  let released = 0
  for (const handle of await withheldOf(operated)) if (await release(operated, handle)) released++
  say(`tidied: ${lost.filter(isOver).length} of ${lost.length} lost instances are ended, ${released} handles released`)
}
