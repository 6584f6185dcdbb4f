/** A cloud to ask over HTTP, and the few things every conversation needs: profiles, requests, binds. */
import type { Options } from '../../src/http/options.ts'
import { expect } from 'vitest'
import { openPlane } from '../support/plane.ts'
import { openWorld } from '../support/world.ts'
import { createTestApp } from './app.ts'
import { send, service } from './steps.ts'
import type { Got, Sent } from './steps.ts'
import { randomUUID } from 'node:crypto'
import { catalogueOf } from '../support/images.ts'

export type Arq = { readonly uuid: string; readonly state: string }
export type Deployable = {
  readonly uuid: string
  readonly rp_uuid: string
  readonly name: string
  readonly device_id: number
}
type App = Parameters<typeof send>[0]

/** What Nova sends: three additions for each request. */
export const bindBody = (arqs: readonly Arq[], rpUuid: string, instance: string, hostname = 'node-7') =>
  Object.fromEntries(
    arqs.map(({ uuid }) => [
      uuid,
      Object.entries({ '/hostname': hostname, '/device_rp_uuid': rpUuid, '/instance_uuid': instance }).map(
        ([path, value]) => ({
          op: 'add',
          path,
          value,
        }),
      ),
    ]),
  )
/** What Nova and the command line send to let go. */
export const unbindBody = (arqs: readonly Arq[]) =>
  Object.fromEntries(
    arqs.map(({ uuid }) => [
      uuid,
      ['/hostname', '/device_rp_uuid', '/instance_uuid'].map((path) => ({ op: 'remove', path })),
    ]),
  )

let made = 0
export const freshName = (): string => `profile-${++made}-${randomUUID().slice(0, 8)}`

/** The verbs over one application; `headers` go with every step. */
export const speaker = (app: App, headers: Readonly<Record<string, string>> = {}) => {
  const say = (line: string, sent: Sent = {}): Promise<Got> =>
    send(app, line, { ...sent, headers: { ...headers, ...sent.headers } })
  const must = async (status: number, line: string, sent: Sent = {}): Promise<Got> => {
    const got = await say(line, sent)
    expect(got.status, `${line}: ${got.text}`).toBe(status)
    return got
  }
  const newProfile = async (amount: number | string = 1, more: object = {}): Promise<string> => {
    const name = freshName()
    await must(201, 'POST /v2/device_profiles', {
      body: [{ name, groups: [{ 'resources:FPGA': String(amount), ...more }] }],
    })
    return name
  }
  const arqsOf = async (profile: string): Promise<readonly Arq[]> =>
    (await must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: profile } })).json.arqs
  const newArqs = async (amount = 1, more: object = {}): Promise<readonly Arq[]> =>
    arqsOf(await newProfile(amount, more))
  const arq = async (uuid: string) => (await must(200, `GET /v2/accelerator_requests/${uuid}`)).json
  return { say, must, newProfile, arqsOf, newArqs, arq }
}

const cloudOf = async <World extends { readonly app: App }>(world: World) => {
  const admin = speaker(world.app)
  const { deployables } = (await admin.must(200, 'GET /v2/deployables')).json
  const withClass = (name: string): Deployable =>
    deployables.find((each: { attributes_list: string }) => each.attributes_list.includes(`{"rc":"${name}"}`))
  const fpga = withClass('FPGA')
  /** Binds as Nova does; the answer is not judged. */
  const bind = (arqs: readonly Arq[], instance: string, rpUuid = fpga.rp_uuid) =>
    admin.say('PATCH /v2/accelerator_requests', { body: bindBody(arqs, rpUuid, instance), headers: service })
  const bound = async (amount = 1): Promise<{ readonly arqs: readonly Arq[]; readonly instance: string }> => {
    const [arqs, instance] = [await admin.newArqs(amount), randomUUID()]
    const got = await bind(arqs, instance)
    expect(got.status, got.text).toBe(202)
    return { arqs, instance }
  }
  const leave = (instance: string) =>
    admin.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`, { headers: service })
  return { ...world, ...admin, fpga, gpu: withClass('PGPU'), bind, bound, leave }
}

/** The world every test shares in form: an FPGA of 16 handles and a GPU on one host, nothing to do on it at a bind. */
export const openCloud = async (options: Partial<Options> = {}) => cloudOf(await openWorld(options))
export type Cloud = Awaited<ReturnType<typeof openCloud>>

type Shop = {
  readonly parts?: Parameters<typeof openPlane>[0]
  readonly answering?: 'at once' | 'when told'
  /** The FPGA needs its host at a bind. */
  readonly hostWork?: boolean
  readonly options?: Partial<Options>
}

/** A small host of one's own: its FPGA can be programmed, and it answers at once or only when the test says so. */
export const openWorkshop = async ({ parts = {}, answering = 'at once', hostWork = true, options = {} }: Shop = {}) => {
  const plane = await openPlane(parts, undefined, answering)
  await plane.shows('sim-1', {
    seed: 1,
    devices: [
      { kind: 'fpga', handles: 4, hostWork },
      { kind: 'gpu', handles: 1 },
    ],
  })
  const unsubscribe = plane.store.journal.onAppended(() => void plane.pump())
  const close = async () => {
    unsubscribe()
    await plane.pump()
    await plane.plane.stop()
    await plane.store.close()
  }
  return cloudOf({ ...plane, app: createTestApp(plane.control, options, plane.events), close })
}
/** An image store that has every image. */
export const anyImage = catalogueOf()
