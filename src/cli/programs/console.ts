/** The listener of the console: pages for people, who must sign in there if the API requires it. */
import { systemClock, systemIds } from '../../vocabulary/clock.ts'
import { errorAnswer } from '../../http/faults.ts'
import { gateOf } from '../../http/gate.ts'
import type { Log } from '../../vocabulary/log.ts'
import { issueToken, revokeToken } from '../../neighbours/openstack/passwordToken.ts'
import { createSender } from '../../neighbours/openstack/send.ts'
import { createUi } from '../../ui/app.ts'
import { loadAssets } from '../../ui/assets.ts'
import type { SignIn } from '../../ui/looking.ts'
import type { Closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { remoteOf } from '../../http/remote.ts'
import { unserved } from '../../http/unserved.ts'
import type { Meter } from '../observe/metrics.ts'
import { type App, type Listening, listenOrElsewhere } from './listen.ts'

type Parts = {
  readonly config: Pick<Config, 'auth' | 'keystone' | 'http' | 'uiListen'>
  /** The API, which the console calls with the token of the signed-in person. */
  readonly api: App
  readonly log: Log
  readonly meter?: Pick<Meter, 'count'>
  readonly open: Pick<Closer, 'add'>
}

const GRACE_MS = 1000

const signInOf = ({ config: { auth, keystone }, meter, open }: Parts): SignIn => {
  if (auth !== 'keystone' || keystone === null) return null
  const { send, close } = createSender(keystone.ca)
  open.add(close)
  const { authUrl, timeoutMs } = keystone.session
  const parts = { send, authUrl, timeoutMs, now: systemClock.now }
  return {
    identity: keystone.challengeUrl,
    withPassword: async ({ user, password, project, domain }) => {
      const issued = await issueToken(parts, {
        username: user,
        password,
        project,
        userDomain: domain,
        projectDomain: domain,
      })
      if (!issued.ok && issued.wrong) meter?.count('sign_ins_refused_total', {})
      return issued
    },
    revoke: (token) => revokeToken(parts, token),
  }
}

/** Rejects when a chosen address cannot be listened on. */
export const openConsole = async (parts: Parts): Promise<Listening> => {
  const { config, api, log, open } = parts
  const gate = gateOf(config.http)
  let assets: ReturnType<typeof loadAssets> | null = null
  const app = createUi({
    fetch: (request) => api.fetch(request),
    assets: () => (assets ??= loadAssets()),
    signIn: signInOf(parts),
    remote: (c) => remoteOf(c, config.http),
    barred: (header) => {
      const barred = gate(header)
      return barred === null ? null : errorAnswer(barred.fault, '').detail
    },
    clock: systemClock,
    ids: systemIds,
    log,
  })
  const listening = await listenOrElsewhere(app, config.uiListen, {
    name: 'console',
    log,
    unserved: unserved({ ids: systemIds, clock: systemClock, log }),
  })
  open.add(() => listening.close(GRACE_MS))
  return listening
}
