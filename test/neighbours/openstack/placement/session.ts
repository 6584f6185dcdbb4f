/** A session whose Placement is the model, in the same process: for tests without sockets, and for the simulation. */
import type { Session } from '../../../../src/neighbours/openstack/session.ts'
import type { PlacementModel } from './model.ts'

export const modelSession = (model: PlacementModel): Pick<Session, 'call'> => ({
  call: async ({ method, path, headers = {}, body }) => {
    const version = headers['openstack-api-version']
    const reply = model.handle({ method, path, version, body: body === undefined ? undefined : JSON.parse(body) })
    return { status: reply.status, headers: {}, text: reply.body === undefined ? '' : JSON.stringify(reply.body) }
  },
})
