/**
 * A real Keystone and a real Placement beside a run: how controls and the client sign in, what Nova has made of the
 * hosts there, and the faults of both. The controls reach both only through proxies.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RiggedCloud, startCloud } from '../cloud/rig.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type FaultyProxy, type Harm, faultyProxy } from '../neighbours/faultyProxy.ts'
import { cloudConfig } from '../nova/service.ts'
import { type PlacementLab, placementLab } from '../support/placementLab.ts'
import { type Shown, shownOf } from '../support/placementSeen.ts'
import { signIn } from '../support/signIn.ts'
import { type CloudKind, HOSTS } from './plan.ts'
import { type Proxy, openProxy } from './proxy.ts'

type Parts = { readonly cloud: RiggedCloud; readonly placement: FaultyProxy; readonly keystone: Proxy }
type End = () => Promise<void> | void
export type Openstack = {
  /** Configuration file of the controls, and their environment. */
  readonly config: string
  readonly settings: Readonly<Record<string, string>>
  /** Those of a client: it is Nova. */
  readonly headers: Readonly<Record<string, string>>
  /** As Nova and operators use Placement, past the proxy. */
  readonly lab: PlacementLab
  /** The compute nodes, and a provider of somebody else below each, as they were before the first host started. */
  readonly foreign: Shown
  /** Method and path of each request of the controls to Placement. */
  readonly asked: readonly string[]
  /** Resolves to what ends the fault. */
  readonly strike: (kind: CloudKind, byMs: number) => Promise<End>
  readonly close: () => Promise<void>
}

/** Longer than any run: neither clients nor controls sign in again. */
const TOKEN_SECONDS = 86_400
const SETTINGS = {
  ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret',
  ACCELERANDO_KEYSTONE_AUTHTOKEN_TIMEOUT_SECONDS: '3',
  // short, so that controls need Keystone while it is away
  ACCELERANDO_KEYSTONE_AUTHTOKEN_TOKEN_CACHE_SECONDS: '15',
  ACCELERANDO_PLACEMENT_ENABLED: 'true',
  ACCELERANDO_PLACEMENT_AUDIT_SECONDS: '5',
}

/** Done to two of three requests in turn, so that passes get to each of their steps. */
const harmed = ({ placement }: Parts, first: Harm, second: Harm): End => {
  let asked = 0
  const rules = [
    placement.inject({ harm: first, when: () => ++asked % 3 === 1 }),
    placement.inject({ harm: second, when: () => asked % 3 === 2 }),
  ]
  return () => {
    for (const { remove } of rules) remove()
  }
}
const UNAVAILABLE: Harm = { kind: 'answer', status: 503, body: '{}' }
const STRIKES: Readonly<Record<CloudKind, (parts: Parts, byMs: number) => Promise<End>>> = {
  'kill placement': async ({ cloud, placement }) => {
    await cloud.signalPlacement('KILL')
    return () => cloud.restart(placement.url)
  },
  'pause placement': async ({ cloud }) => {
    await cloud.signalPlacement('STOP')
    return () => cloud.signalPlacement('CONT')
  },
  'cut placement': async (parts) => harmed(parts, { kind: 'resetBefore' }, { kind: 'resetAfter' }),
  'silence placement': async (parts) => harmed(parts, { kind: 'silentBefore' }, { kind: 'silentAfter' }),
  'refuse placement': async (parts) => harmed(parts, UNAVAILABLE, UNAVAILABLE),
  'delay placement': async ({ placement }, ms) => placement.inject({ harm: { kind: 'slow', ms } }).remove,
  'pause keystone': async ({ cloud }) => {
    await cloud.signalKeystone('STOP')
    return () => cloud.signalKeystone('CONT')
  },
  'cut keystone': async ({ keystone }) => {
    keystone.weather('cut')
    return () => keystone.weather('fair')
  },
}

/** Each host has its compute node before it starts, as Nova makes it. */
const nodesOf = async (lab: PlacementLab): Promise<readonly string[]> => {
  const foreign: string[] = []
  for (const name of HOSTS) {
    const root = await lab.node(name)
    foreign.push(root, await lab.child(root))
  }
  return foreign
}

/** `folder`: for the configuration. */
export const openOpenstack = async (rig: string, folder: string): Promise<Openstack> => {
  const cloud = await startCloud(rig, TOKEN_SECONDS)
  // it has read in the catalogue where Placement is before the proxy stands there
  const lab = placementLab({ ...sessionOptions(cloud.authUrl), timeoutMs: 3000 })
  const ends: (() => Promise<unknown>)[] = [lab.close, cloud.stop]
  const close = async (): Promise<void> => void (await Promise.allSettled(ends.map((end) => end())))
  try {
    const foreign = await shownOf(lab, await nodesOf(lab))
    const placement = await faultyProxy(cloud.placementUrl)
    ends.push(placement.close)
    await cloud.restart(placement.url)
    const keystone = await openProxy(() => Number(new URL(cloud.authUrl).port))
    ends.push(keystone.close)
    const { token } = await signIn(cloud.authUrl, 'nova', { project: 'service' })
    const config = join(folder, 'control.toml')
    writeFileSync(config, cloudConfig(`http://127.0.0.1:${keystone.port}/v3`))
    return {
      config,
      settings: SETTINGS,
      headers: { 'x-auth-token': token, 'x-service-token': token },
      lab,
      foreign,
      asked: placement.asked,
      strike: (kind, byMs) => STRIKES[kind]({ cloud, placement, keystone }, byMs),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
