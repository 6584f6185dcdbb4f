/**
 * Mounts the routes on the web application. All requests pass the same checks, and a request without a matching route
 * gets an explanation.
 */
import type { Context, Hono } from 'hono'
import { refused } from './faults.ts'
import type { HttpFault } from './faults.ts'
import { run } from './frame.ts'
import type { Frame, Ports } from './frame.ts'
import { identityOf, isRefused, judge, versionOf } from './judge.ts'
import { isVersioned, pathOf } from './paths.ts'
import type { Answered, Route } from './route.ts'

const serve = (row: Route, ports: Ports) => {
  const versioned = isVersioned(row.path)
  return (c: Context): Promise<Response> => run(c, row.path, ports, versioned, (frame) => judge(c, row, ports, frame))
}

const matcher = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)

/** The fault for a request that matches no route. */
const astray = (rows: readonly Route[], c: Context): HttpFault => {
  const path = pathOf(c.req.raw)
  const methods = [...new Set(rows.filter((row) => matcher(row.path).test(path)).map((row) => row.method as string))]
  if (methods.length === 0) return { kind: 'no_route', path }
  const allow = methods.includes('GET') ? ['GET', 'HEAD', ...methods.filter((method) => method !== 'GET')] : methods
  return { kind: 'no_method', method: c.req.method, allow }
}

const lost = (rows: readonly Route[], ports: Ports) => {
  const judgeLost = async (c: Context, versioned: boolean, frame: Frame): Promise<Answered> => {
    const identity = await identityOf(c, ports)
    if (isRefused(identity)) return identity
    const minor = versioned ? versionOf(c, ports, frame) : null
    return minor === null || typeof minor === 'number' ? refused(astray(rows, c)) : minor
  }
  return (c: Context): Promise<Response> => {
    const versioned = isVersioned(pathOf(c.req.raw))
    return run(c, 'none', ports, versioned, (frame) => judgeLost(c, versioned, frame))
  }
}

export const mount = (app: Hono, rows: readonly Route[], ports: Ports): Hono => {
  for (const row of rows) app.on(row.method, row.path, serve(row, ports))
  app.notFound(lost(rows, ports))
  return app
}
