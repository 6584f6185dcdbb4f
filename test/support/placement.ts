/** A Placement in memory as the actors see it: through the client of the service. */
import type { Placement } from '../../src/actors/placement/port.ts'
import { createPlacement } from '../../src/neighbours/openstack/placement.ts'
import { placementModel } from '../neighbours/openstack/placement/model.ts'
import { modelSession } from '../neighbours/openstack/placement/session.ts'

export type PlacementInMemory = {
  readonly placement: Placement
  /** Method and path of each request so far. */
  readonly asked: string[]
  /** As an operator or Nova asks; answers with the body. Throws unless it is done. */
  readonly ask: (method: string, path: string, body?: unknown) => unknown
}

const VERSION = '1.39'
export const placementInMemory = (): PlacementInMemory => {
  const model = placementModel()
  const { call } = modelSession(model)
  const asked: string[] = []
  const placement = createPlacement({
    call: (request) => {
      asked.push(`${request.method} ${request.path}`)
      return call(request)
    },
  })
  return {
    placement,
    asked,
    ask: (method, path, body) => {
      const { status, body: answer } = model.handle({ method, path, version: `placement ${VERSION}`, body })
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
      return answer
    },
  }
}
