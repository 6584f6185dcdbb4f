/** What Nova and operators do with requests, devices and profiles, by hand; and waiting for what was accepted. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { openWorkshop } from '../http/cloud.ts'
import { commandHere } from '../support/commandHere.ts'
import { type Serving, serving } from '../support/serving.ts'

let shop: Awaited<ReturnType<typeof openWorkshop>>
let served: Serving
beforeAll(async () => {
  shop = await openWorkshop({ answering: 'when told', options: { additiveMicroversion: true } })
  served = await serving(shop.app)
})
afterAll(async () => {
  await served.close()
  await shop.close()
})

const run = (...args: readonly string[]) => commandHere(args, { ACCELERANDO_URL: `${served.url}/v2` })
/** The same API, whose callers are a service of another project, which sees no request of this one. */
const asStranger = async (...args: readonly string[]) => {
  const stranger = { 'x-roles': 'service', 'x-project-id': 'elsewhere', 'x-user-id': 'stranger' }
  const fetch = (request: Request, ...rest: readonly unknown[]) => {
    const headers = { ...Object.fromEntries(request.headers), ...stranger }
    return (shop.app.fetch as (...given: readonly unknown[]) => Response | Promise<Response>)(
      new Request(request, { headers }),
      ...rest,
    )
  }
  const there = await serving({ fetch })
  try {
    return await commandHere(args, { ACCELERANDO_URL: `${there.url}/v2` })
  } finally {
    await there.close()
  }
}
const said = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await run(...args)
  expect([code, err], args.join(' ')).toEqual([0, ''])
  return out
}
const json = async (...args: readonly string[]) => JSON.parse(await said(...args, '--json'))
const BECAUSE = ['--reason', 'as agreed']

/** A request of one FPGA, and how it is bound. */
const asked = async () => {
  const name = await shop.newProfile()
  const uuid = (await said('arq', 'create', name, '-f', 'value', '-c', 'uuid')).trim()
  const instance = randomUUID()
  const target = ['--host', 'sim-1', '--resource-provider', shop.fpga.rp_uuid, '--instance', instance]
  return { uuid, instance, target, name }
}
/** The host carries out the last order that it got. */
const answered = async (): Promise<void> => {
  await shop.pump()
  await shop.answer(shop.orders.at(-1)!)
}

describe('a request', () => {
  test('whose bind takes longer than one waits ends with 6, and goes on', async () => {
    const { uuid, target, instance } = await asked()
    const { code, out, err } = await run('arq', 'bind', uuid, ...target, '--wait', '0.2')
    expect([code, out]).toEqual([EXITS.waited.code, ''])
    expect(err).toContain(`after 0.2 s ${uuid} is BindStarted`)
    expect(err).toContain(`next: accelerando arq timeline ${uuid}`)
    await answered()
    expect((await shop.arq(uuid)).state).toBe('Bound')
    expect((await json('instance', 'show', instance)).arqs).toMatchObject([{ uuid, state: 'Bound' }])
    await shop.leave(instance)
    await answered()
  })
  test('is waited for, is shown when it is bound, and tells its events meanwhile', async () => {
    const { uuid, target, instance } = await asked()
    const waiting = run('arq', 'bind', uuid, ...target, '--wait', '20')
    await expect.poll(async () => (await shop.arq(uuid)).state).toBe('BindStarted')
    await answered()
    const { code, out } = await waiting
    expect([code, out]).toEqual([0, expect.stringContaining(`${uuid}  Bound`)])
    // the host has not released it yet
    const left = await run('arq', 'unbind', uuid, '--wait', '0.2')
    expect(left).toMatchObject({
      code: EXITS.waited.code,
      err: expect.stringMatching(/attach handle \S+ is releasing/),
    })
    await answered()
    expect((await run('instance', 'show', instance)).code).toBe(EXITS.notFound.code)
  })
  test('that cannot be bound ends with 1, and the timeline is named', async () => {
    const { uuid, target } = await asked()
    const waiting = run('arq', 'bind', uuid, ...target, '--wait', '20')
    await expect.poll(async () => (await shop.arq(uuid)).state).toBe('BindStarted')
    await shop.pump()
    await shop.answer(shop.orders.at(-1)!, { status: 'failed', code: 'host_failed', reason: 'no link' } as never)
    expect(await waiting).toMatchObject({
      code: EXITS.failed.code,
      out: '',
      err: expect.stringContaining(`next: accelerando arq timeline ${uuid}`),
    })
  })
  test('that is bound by a service that may not read it is accepted, and a wait for it is refused before anything is changed', async () => {
    const { uuid, target, instance } = await asked()
    const refused = await asStranger('arq', 'bind', uuid, ...target, '--wait', '5')
    expect(refused).toMatchObject({ code: EXITS.notFound.code, out: '' })
    expect((await shop.arq(uuid)).state).toBe('Initial')
    expect(await asStranger('arq', 'bind', uuid, ...target)).toEqual({ code: 0, out: `accepted: ${uuid}\n`, err: '' })
    await answered()
    expect((await shop.arq(uuid)).state).toBe('Bound')
    expect((await asStranger('arq', 'unbind', uuid, '--wait', '5')).code).toBe(EXITS.notFound.code)
    expect((await shop.arq(uuid)).state).toBe('Bound')
    const left = await asStranger('arq', 'unbind', uuid, '--json')
    expect([left.code, JSON.parse(left.out)]).toEqual([0, { arqs: [{ uuid }] }])
    await answered()
    expect((await run('instance', 'show', instance)).code).toBe(EXITS.notFound.code)
  })
  test('is deleted when somebody agrees, and its instance names those of an instance', async () => {
    const { uuid } = await asked()
    expect((await run('arq', 'delete', uuid)).code).toBe(EXITS.usage.code)
    expect(await said('arq', 'delete', uuid, '--yes')).toBe(`deleted: ${uuid}\n`)
    expect((await run('arq', 'show', uuid)).err).toContain('next: accelerando arq list')
    expect((await run('arq', 'delete', '--yes')).err).toContain('name accelerator requests, or an instance')
  })
  test.each(['0', 'x', '-1', '90000'])('--wait %s is refused before anything is asked', async (wait) => {
    const { uuid, target } = await asked()
    const { code, err } = await run('arq', 'bind', uuid, ...target, '--wait', wait)
    expect([code, err]).toEqual([EXITS.usage.code, expect.stringContaining('--wait: must be a number of seconds')])
    expect((await shop.arq(uuid)).state).toBe('Initial')
  })
  test('of the past is shown with --as-of', async () => {
    const { uuid } = await asked()
    const long = '2020-01-01T00:00:00Z'
    expect((await json('arq', 'list', '--as-of', long)).arqs).toEqual([])
    expect((await run('arq', 'show', uuid, '--as-of', long)).code).toBe(EXITS.notFound.code)
    const initial = (await json('arq', 'list', '--state', 'initial')).arqs
    expect(initial).toEqual((await json('arq', 'list', '--state', 'Initial')).arqs)
    expect((await run('arq', 'list', '--as-of', 'yesterday')).code).toBe(EXITS.usage.code)
  })
})

describe('a device', () => {
  test('is listed, shown as a tree with its handles, disabled and enabled', async () => {
    const { devices } = await json('device', 'list', '--host', 'sim-1', '--type', 'fpga')
    expect(devices).not.toEqual([])
    const [{ uuid }] = devices
    const rows = (await json('device', 'tree', uuid)) as readonly { readonly kind: string; readonly uuid: string }[]
    expect(rows.map(({ kind }) => kind)).toEqual(['device', 'deployable', 'handle', 'handle', 'handle', 'handle'])
    const lines = (await said('device', 'tree', uuid)).split('\n')
    expect(lines[1]).toMatch(new RegExp(`^ {2}deployable \\S+ {2}\\S+ {2}resource provider ${shop.fpga.rp_uuid}$`))
    expect(lines[2]).toMatch(/^ {4}handle \S{36} {2}(free|held|releasing|quarantined)/)
    expect(await said('device', 'disable', uuid, '--dry-run')).toMatch(/nothing was changed\n$/)
    expect((await json('device', 'show', uuid)).status).toBe('enabled')
    expect(await said('device', 'disable', uuid)).toMatch(/^status +maintaining$/m)
    expect((await json('device', 'list', '--status', 'maintaining')).devices).toHaveLength(1)
    expect(await said('device', 'enable', uuid)).toMatch(/^status +enabled$/m)
  })
})

describe('a profile', () => {
  test('is made, changed, compared, shared and deleted', async () => {
    await said('profile', 'create', 'small', '--group', 'resources:FPGA=1,trait:CUSTOM_A=required')
    await said('profile', 'set', 'small', '--group', 'resources:FPGA=2', '--description', 'two', ...BECAUSE)
    expect((await said('profile', 'diff', 'small')).split('\n').slice(1)).toEqual([
      '- group 0 resources:FPGA = 1',
      '+ group 0 resources:FPGA = 2',
      '- group 0 trait:CUSTOM_A = required',
      '+ description = two',
      '',
    ])
    expect(await said('profile', 'diff', 'small', '2', '2')).toContain('they ask for the same')
    expect((await run('profile', 'diff', 'small', '7')).err).toContain('next: accelerando profile versions small')
    const tried = await said('profile', 'set', 'small', '--disable', '2', '--dry-run', ...BECAUSE)
    expect(tried).toMatch(
      /^it would be done\n0 devices, 0 instances, 0 projects, 0 accelerator requests\nnothing was changed\n$/,
    )
    const late = ['--disable', '2', '--if-version', '1', '--dry-run', ...BECAUSE]
    expect(await said('profile', 'set', 'small', ...late)).toMatch(
      /^it would be refused: device profile small was changed/,
    )
    expect((await json('profile', 'versions', 'small')).versions).toMatchObject([{ enabled: true }, { enabled: true }])
    expect(await said('profile', 'set', 'small', '--disable', '2', ...BECAUSE)).toMatch(/^version +1$/m)
    expect(await said('profile', 'set', 'small', '--project', 'p1', '--project', 'p2', ...BECAUSE)).toMatch(
      /^projects +p1 p2$/m,
    )
    expect(await said('profile', 'set', 'small', '--all-projects', ...BECAUSE)).toMatch(/^projects +-$/m)
    expect((await run('profile', 'set', 'small', '--if-version', '1', '--enable', '2', ...BECAUSE)).code).toBe(
      EXITS.conflict.code,
    )
    expect((await json('profile', 'versions', 'small')).versions).toMatchObject([{ enabled: true }, { enabled: false }])
    expect(await said('profile', 'delete', 'small', '--dry-run')).toMatch(/nothing was changed\n$/)
    expect(await said('profile', 'delete', 'small', '--yes')).toBe('deleted: small\n')
    expect((await run('profile', 'show', 'small')).code).toBe(EXITS.notFound.code)
  })
  test.each([
    [['profile', 'set', 'p', ...BECAUSE], 'say what changes'],
    [['profile', 'set', 'p', '--project', 'a', '--all-projects', ...BECAUSE], 'exclude each other'],
    [['profile', 'create', 'p'], 'name its groups'],
    [['profile', 'create', 'p', '--group', 'FPGA'], '--group: must be KEY=VALUE'],
    [['profile', 'create', 'p', '--group', '=a=b'], '--group: must be KEY=VALUE'],
  ])('%j is refused', async (args, why) => {
    expect(await run(...args)).toMatchObject({ code: EXITS.usage.code, out: '', err: expect.stringContaining(why) })
  })
})

describe('the service', () => {
  test('is well, or the command says what is not and how to look at it', async () => {
    const { code, out } = await run('status', '-f', 'json')
    const found = JSON.parse(out) as readonly { readonly severity: string; readonly look: string }[]
    expect(code).toBe(found.some(({ severity }) => severity === 'bad') ? EXITS.findings.code : 0)
    expect(found).toContainEqual({
      severity: 'bad',
      says: '1 request could not be bound',
      look: 'accelerando arq list --state BindFailed',
      mend: 'accelerando arq timeline UUID',
    })
    expect((await run('status')).out).toContain('! 1 request could not be bound')
  })
  test('is found by a variable, which is judged as the option is', async () => {
    const { code, err } = await commandHere(['host', 'list'], { ACCELERANDO_URL: 'nowhere' })
    expect([code, err]).toEqual([
      EXITS.usage.code,
      expect.stringContaining('ACCELERANDO_URL: nowhere must be the address'),
    ])
  })
  test('is asked as --debug tells, without the token', async () => {
    const env = { ACCELERANDO_URL: `${served.url}/v2`, OS_TOKEN: 'planted-token' }
    const { code, err } = await commandHere(['host', 'list', '--debug'], env)
    expect(code).toBe(0)
    expect(err).toContain(`> GET ${served.url}/v2/hosts\n`)
    expect(err).toContain('> x-auth-token: (hidden)\n')
    expect(err).toContain('< 200\n')
    expect(err).not.toContain('planted')
  })
})
