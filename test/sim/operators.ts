/**
 * Actions of operators: hosts are taken out of service, handles are quarantined, binds are ended by force, traits are
 * renamed.
 */
import { QUARANTINED_FOR_CLEANING } from '../../src/actors/deployable/cleaning.ts'
import { COMPARISON } from '../../src/actors/deployable/slots.ts'
import type { Reply } from './client.ts'
import { ADMIN, type Tools, survey } from './sessions.ts'

const BECAUSE = { reason: 'simulated' }
const unsure = ({ status }: Reply): boolean => status === null || status === 503
const ROUNDS = 20

/** Repeats the request until there is an answer, since operators finish what they start. */
const insist = async ({ client }: Tools, line: string, body?: object): Promise<Reply> => {
  let reply = await client.ask(ADMIN, 'other', line, body)
  for (let round = 0; round < ROUNDS && unsure(reply); round++) {
    await client.sleep(2000)
    reply = await client.ask(ADMIN, 'other', line, body)
  }
  return reply
}

const outOfService = async (tools: Tools): Promise<void> => {
  const { client, random, places } = tools
  const { host } = random.pick(places)
  const path = `/v2/hosts/${host}`
  if (random.chance(0.5)) await insist(tools, `POST ${path}/retire`, BECAUSE)
  // not by force: nobody would know whose binds it ended, so what clients saw could not be judged
  else await insist(tools, `DELETE ${path}?reason=simulated`)
  await client.sleep(random.below(10_000))
  await insist(tools, `POST ${path}/restore`, BECAUSE)
  await client.sleep(random.below(10_000))
  await survey(tools)
}

/** Only what was free when it was kept back is known to be clean. */
const keptBack = async (tools: Tools): Promise<void> => {
  const { client, random } = tools
  const listed = await client.ask(ADMIN, 'other', 'GET /v2/handles?state=free')
  if (listed.status !== 200 || listed.json.handles.length === 0) return
  const { uuid } = random.pick(listed.json.handles as { uuid: string }[])
  const kept = await insist(tools, `POST /v2/handles/${uuid}/quarantine`, BECAUSE)
  if (kept.status !== 200 || kept.json.last_arq_uuid !== null) return
  // what another operator has found out about it since counts
  for (let round = 0; round < ROUNDS; round++) {
    await client.sleep(round === 0 ? random.below(10_000) : 2000)
    const seen = await client.ask(ADMIN, 'other', `GET /v2/handles/${uuid}`)
    if (unsure(seen)) continue
    if (seen.json?.quarantine?.reason !== BECAUSE.reason) return
    const released = await client.ask(ADMIN, 'other', `POST /v2/handles/${uuid}/release`, BECAUSE)
    if (!unsure(released)) return
  }
}

/** Has looked at the host, and found that nobody uses what is withheld because of its ledger. */
const undone = async (tools: Tools): Promise<void> => {
  const { client, random } = tools
  const listed = await client.ask(ADMIN, 'other', 'GET /v2/handles?state=quarantined')
  if (listed.status !== 200 || listed.json.handles.length === 0) return
  const { uuid } = random.pick(listed.json.handles as { uuid: string }[])
  const shown = await client.ask(ADMIN, 'other', `GET /v2/handles/${uuid}`)
  if (shown.status === 200 && shown.json.quarantine?.by === COMPARISON)
    await insist(tools, `POST /v2/handles/${uuid}/release`, BECAUSE)
}

/** Has mended what kept its host from cleaning it, or has cleaned it by hand where the host does not. */
const cleanedAgain = async (tools: Tools): Promise<void> => {
  const { client, random } = tools
  const listed = await client.ask(ADMIN, 'other', 'GET /v2/handles?state=quarantined')
  if (listed.status !== 200 || listed.json.handles.length === 0) return
  const { uuid } = random.pick(listed.json.handles as { uuid: string }[])
  const shown = await client.ask(ADMIN, 'other', `GET /v2/handles/${uuid}`)
  if (shown.status !== 200 || shown.json.quarantine?.by !== QUARANTINED_FOR_CLEANING) return
  const deed = shown.json.cleaning.due === 'by_operator' ? 'release' : 'clean'
  await insist(tools, `POST /v2/handles/${uuid}/${deed}`, BECAUSE)
}

const byForce = async ({ client, random }: Tools): Promise<void> => {
  const listed = await client.ask(ADMIN, 'list', 'GET /v2/accelerator_requests?limit=20')
  if (listed.status !== 200 || listed.json.arqs.length === 0) return
  const { uuid } = random.pick(listed.json.arqs as { uuid: string }[])
  const line = `POST /v2/accelerator_requests/${uuid}/force_unbind`
  await client.ask(ADMIN, 'unbind', line, BECAUSE, { arqs: [uuid] })
}

/** As after an upgrade, and back again. */
const renamed = async (tools: Tools): Promise<void> => {
  const names = tools.random.chance(0.5) ? ['CUSTOM_FAST', 'CUSTOM_FASTER'] : ['CUSTOM_FASTER', 'CUSTOM_FAST']
  const traits = { [names[0]!]: names[1]! }
  await insist(tools, 'POST /v2/profile_migrations', { traits, apply: true, ...BECAUSE })
}

const interventions = [renamed, outOfService, keptBack, keptBack, byForce, undone, cleanedAgain, cleanedAgain]
export const interventionSession = async (tools: Tools): Promise<void> => {
  while (!tools.over()) {
    await tools.client.sleep(tools.random.below(20_000))
    if (tools.places.length > 0) await tools.random.pick(interventions)(tools)
  }
}
