/** A session whose Placement is the model, in the same process: for tests without sockets, and for the simulation. */
import type { Answer } from '../../../../src/neighbours/openstack/send.ts'
import type { Call, Session } from '../../../../src/neighbours/openstack/session.ts'
import type { PlacementModel } from './model.ts'

/** `around`: may refuse, fail, or do something before and after what it is given to carry out. */
export const modelSession = (
  model: PlacementModel,
  around: (call: Call, carryOut: () => Answer) => Answer | Promise<Answer> = (_, carryOut) => carryOut(),
): Pick<Session, 'call'> => ({
  call: async (call) => {
    const { method, path, headers = {}, body } = call
    const carryOut = (): Answer => {
      const version = headers['openstack-api-version']
      const reply = model.handle({ method, path, version, body: body === undefined ? undefined : JSON.parse(body) })
      return { status: reply.status, headers: {}, text: reply.body === undefined ? '' : JSON.stringify(reply.body) }
    }
    return around(call, carryOut)
  },
})
