/** A Placement in memory as the actors see it: through the client of the service. */
import type { Placement } from '../../src/actors/placement/port.ts'
import { createPlacement } from '../../src/neighbours/openstack/placement.ts'
import { type PlacementModel, placementModel } from '../neighbours/openstack/placement/model.ts'

export type PlacementInMemory = {
  readonly model: PlacementModel
  readonly placement: Placement
  /** Method and path of each request so far. */
  readonly asked: string[]
  /** As an operator or Nova asks; answers with the body. Throws unless it is done. */
  readonly ask: (method: string, path: string, body?: unknown) => unknown
}

const VERSION = '1.39'
export const placementInMemory = (): PlacementInMemory => {
  const model = placementModel()
  const asked: string[] = []
  const ask: PlacementInMemory['ask'] = (method, path, body) => {
    const { status, body: answer } = model.handle({ method, path, version: `placement ${VERSION}`, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  const placement = createPlacement({
    call: async ({ method, path, headers, body }) => {
      asked.push(`${method} ${path}`)
      const version = headers?.['openstack-api-version']
      const reply = model.handle({
        method,
        path,
        version,
        body: body === undefined ? undefined : (JSON.parse(body) as unknown),
      })
      return {
        status: reply.status,
        headers: {},
        text: reply.body === undefined ? '' : JSON.stringify(reply.body),
      }
    },
  })
  return { model, placement, asked, ask }
}
