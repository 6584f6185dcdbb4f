/** Performs one bind as Nova would, over HTTP. A step that fails prints what it expected. */
import { systemClock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { pause } from '../../vocabulary/waiting.ts'
import { ask } from '../ask.ts'

export type HeardEvent = {
  readonly name: string
  readonly server_uuid: string
  readonly tag: string
  readonly status: string
}
export type TourParts = {
  /** The URL of the API: `http://HOST:PORT/v2`. */
  readonly base: string
  /** The address of the console, with a slash at its end. */
  readonly console: string
  /** The external events that the tour's Nova has received so far. */
  readonly heard: () => readonly HeardEvent[]
  readonly say: (line: string) => void
}
type Json = Readonly<Record<string, unknown>>
type Answer = { readonly status: number; readonly body: Json }

const WAIT_MS = 15_000
const HEADERS = { 'x-service-roles': 'service' }

class Unexpected extends Error {}
const expectThat: (holds: unknown, what: string) => asserts holds = (holds, what) => {
  if (!holds) throw new Unexpected(what)
}

const caller =
  (base: string) =>
  async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const { status, text } = await ask(`${base}${path}`, { method, headers: HEADERS, body, timeoutMs: WAIT_MS })
    return { status, body: (text === '' ? {} : JSON.parse(text)) as Json }
  }
type Call = ReturnType<typeof caller>

const until = async <Value>(what: string, look: () => Promise<Value | null> | Value | null): Promise<Value> => {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const found = await look()
    if (found !== null) return found
    expectThat(Date.now() < end, `${what} within ${WAIT_MS / 1000} s`)
    await pause(systemClock, 10)
  }
}

const stepper = (say: TourParts['say']) => {
  let count = 0
  return async <Value>(title: string, walk: () => Promise<readonly [Value, string]>): Promise<Value> => {
    const began = performance.now()
    const [value, result] = await walk()
    say(`${String(++count).padStart(2)}. ${title.padEnd(28)} ${result}  (${(performance.now() - began).toFixed(1)} ms)`)
    return value
  }
}
type Step = ReturnType<typeof stepper>
type Target = { readonly name: string; readonly rp: string; readonly host: string; readonly rc: string }

/** The first deployable of a host that is up. Its name begins with the name of its host. */
const findTarget = async (call: Call): Promise<Target> => {
  const [{ body: found }, { body: owners }] = await Promise.all([call('GET', '/deployables'), call('GET', '/hosts')])
  const hosts = (owners['hosts'] as { name: string; liveness: string; last_seen_at: string | null }[]).filter(
    (host) => host.liveness === 'up' && host.last_seen_at,
  )
  const pairs = (found['deployables'] as { name: string; rp_uuid: string; attributes_list: string }[]).flatMap(
    (deployable) =>
      hosts.filter((host) => deployable.name.startsWith(`${host.name}_`)).map((host) => ({ deployable, host })),
  )
  expectThat(pairs[0], 'at least one deployable on a host that is up')
  const [{ deployable, host }] = pairs as [(typeof pairs)[0]]
  const attributes = Object.assign({}, ...(JSON.parse(deployable.attributes_list) as object[])) as Record<
    string,
    string
  >
  return { name: deployable.name, rp: deployable.rp_uuid, host: host.name, rc: attributes['rc'] ?? '' }
}

const bindStep = async (step: Step, call: Call, arq: string, target: Target, instance: string) => {
  const ops = Object.entries({ hostname: target.host, device_rp_uuid: target.rp, instance_uuid: instance })
  await step('Nova binds it', async () => {
    const patch = { [arq]: ops.map(([key, value]) => ({ op: 'add', path: `/${key}`, value })) }
    const { status } = await call('PATCH', '/accelerator_requests', patch)
    expectThat(status === 202, `202 for the bind, not ${status}`)
    return [null, `instance ${instance} on ${target.host}: 202`]
  })
}

const eventStep = (step: Step, heard: TourParts['heard'], arq: string, instance: string) =>
  step('Nova hears how it ended', async () => {
    const event = await until('the event for Nova', () => heard().find(({ tag }) => tag === arq) ?? null)
    expectThat(
      event.name === 'accelerator-request-bound' && event.server_uuid === instance && event.status === 'completed',
      'a completed event for this instance',
    )
    return [null, `${event.name} ${event.status}, tag ${event.tag}`]
  })

const boundStep = (step: Step, call: Call, arq: string, instance: string) =>
  step('Nova reads it', async () => {
    const { body } = await call('GET', `/accelerator_requests?instance=${instance}`)
    const [shown] = body['arqs'] as {
      uuid: string
      state: string
      attach_handle_type: string
      attach_handle_info: Record<string, string>
    }[]
    expectThat(shown?.uuid === arq && shown.state === 'Bound', 'the accelerator request, Bound')
    const { domain, bus, device, function: fn } = shown.attach_handle_info
    expectThat(
      domain !== undefined && bus !== undefined && device !== undefined && fn !== undefined,
      'an attach handle with a PCI address',
    )
    return [null, `${shown.state}, ${shown.attach_handle_type} ${domain}:${bus}:${device}.${fn}`]
  })

const timelineStep = async (call: Call, arq: string, say: TourParts['say']) => {
  const { status, body } = await call('GET', `/accelerator_requests/${arq}/timeline`)
  expectThat(status === 200, `200 for the timeline, not ${status}`)
  const steps = body['steps'] as { step: string; took_ms: number | null; cause: string | null; detail: object }[]
  say('    What happened to it:')
  for (const { step, took_ms: took, cause, detail } of steps) {
    // Long values are left out here; the timeline itself shows them.
    const facts = Object.entries(detail).flatMap(([key, value]) =>
      String(value).length > 24 ? [] : [`${key}=${String(value)}`],
    )
    const after = took === null ? '' : `+${took} ms`
    say(`      ${after.padStart(9)}  ${step.padEnd(24)} ${(cause ?? '').padEnd(14)} ${facts.join(' ')}`.trimEnd())
  }
}

const leaveSteps = async (step: Step, call: Call, arq: string, instance: string, profile: string) => {
  await step('Nova unbinds it', async () => {
    const ops = ['/hostname', '/device_rp_uuid', '/instance_uuid'].map((path) => ({ op: 'remove', path }))
    const { status } = await call('PATCH', '/accelerator_requests', { [arq]: ops })
    expectThat(status === 202, `202 for the unbind, not ${status}`)
    const { body } = await call('GET', `/accelerator_requests/${arq}`)
    expectThat((body['state'] as string) === 'Unbound', 'state Unbound')
    return [null, 'Unbound, the handle goes back']
  })
  await step('Nova deletes it', async () => {
    const { status } = await call('DELETE', `/accelerator_requests?arqs=${arq}`)
    expectThat(status === 204, `204 for the deletion, not ${status}`)
    const { body } = await call('GET', `/accelerator_requests?instance=${instance}`)
    expectThat((body['arqs'] as unknown[]).length === 0, 'no accelerator request left for the instance')
    return [null, '204, none left for the instance']
  })
  await step('the profile is removed', async () => {
    const { status } = await call('DELETE', `/device_profiles/${profile}`)
    expectThat(status === 204, `204 for the profile, not ${status}`)
    return [null, profile]
  })
}

/** Returns the accelerator request that it made. */
const walk = async ({ base, heard, say }: TourParts): Promise<string> => {
  const call = caller(base)
  const step = stepper(say)
  const target = await step('a device is found', async () => {
    const found = await findTarget(call)
    return [found, `${found.name} (${found.rc})`]
  })
  const profile = `tour-${crypto.randomUUID().slice(0, 8)}`
  await step('a device profile is made', async () => {
    const { status } = await call('POST', '/device_profiles', [
      { name: profile, groups: [{ [`resources:${target.rc}`]: '1' }] },
    ])
    expectThat(status === 201, `201 for the profile, not ${status}`)
    return [null, profile]
  })
  const arq = await step('Nova asks for an ARQ', async () => {
    const { status, body } = await call('POST', '/accelerator_requests', { device_profile_name: profile })
    const [made] = (body['arqs'] ?? []) as { uuid: string; state: string }[]
    expectThat(status === 201 && made?.state === 'Initial', `one ARQ in state Initial, not ${status}`)
    return [made.uuid, made.uuid]
  })
  const instance = crypto.randomUUID()
  await bindStep(step, call, arq, target, instance)
  await eventStep(step, heard, arq, instance)
  await boundStep(step, call, arq, instance)
  await timelineStep(call, arq, say)
  await leaveSteps(step, call, arq, instance, profile)
  return arq
}

/** True when every step did what Nova expects. The last line printed is the result. */
export const runTour = async (parts: TourParts): Promise<boolean> => {
  const began = performance.now()
  try {
    const arq = await walk(parts)
    parts.say(`    Its page, whenever the service runs on this data: ${parts.console}arqs/${arq}`)
    parts.say(`tour: every step did what Nova expects, ${(performance.now() - began).toFixed(0)} ms`)
    return true
  } catch (error) {
    parts.say(`tour: FAILED: expected ${messageOf(error)}`)
    return false
  }
}
