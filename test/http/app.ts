/** Where the tests of this room get their applications from. */
import type { Hono } from 'hono'
import type { Control } from '../../src/actors/control.ts'
import type { Events } from '../../src/actors/events.ts'
import { createApp } from '../../src/http/app.ts'
import type { AppParts } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Options } from '../../src/http/options.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { systemHere } from '../support/systemHere.ts'

/** For what must be judged before anything behind this room is asked: being asked is what fails. */
const untouchable = (asked: string[], path: string): unknown =>
  new Proxy(() => {}, {
    get: (_, name) => untouchable(asked, `${path}.${String(name)}`),
    apply: () => {
      asked.push(path)
      throw new Error(`${path} was asked`)
    },
  })

/** An application over nothing: `asked` stays empty as long as nobody reaches through it. */
export const strictApp = (options: Partial<Options> = {}, parts: Partial<AppParts> = {}) => {
  const asked: string[] = []
  const control = untouchable(asked, 'control') as Control
  const events = untouchable(asked, 'events') as Events
  return { app: createApp({ control, events, identify: noauth, options, log: silent, ...parts }), asked }
}

export const createTestApp = (control: Control, options: Partial<Options> = {}, events?: Events): Hono => {
  const system = systemHere({ app: () => app })
  const app: Hono = createApp({
    control,
    identify: noauth,
    options,
    log: silent,
    system,
    ...(events === undefined ? {} : { events }),
  })
  return app
}
