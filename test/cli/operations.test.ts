/** The commands of an operator, against an API that is served here. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXITS, type ExitName } from '../../src/cli/exits.ts'
import { openWorkshop } from '../http/cloud.ts'
import { commandHere } from '../support/commandHere.ts'
import { freePort } from '../support/port.ts'
import { tempFolder } from '../support/program.ts'
import { type Serving, serving } from '../support/serving.ts'

const folder = tempFolder('operations')
let shop: Awaited<ReturnType<typeof openWorkshop>>
let served: Serving
beforeAll(async () => {
  shop = await openWorkshop({ hostWork: false })
  served = await serving(shop.app)
})
afterAll(async () => {
  await served.close()
  await shop.close()
  folder.remove()
})

const run = (...args: readonly string[]) =>
  commandHere(args, { ACCELERANDO_URL: `${served.url}/v2` }, { terminal: false })
const said = async (...args: readonly string[]) => {
  const { code, out, err } = await run(...args)
  expect([code, err], args.join(' ')).toEqual([0, ''])
  return out
}
const json = async (...args: readonly string[]) => JSON.parse(await said(...args, '--json'))
/** The complaint of a command that ends with this code; its next line may name the request and the next command. */
const refused = async (exit: ExitName, ...args: readonly string[]) => {
  const { code, out, err } = await run(...args)
  expect([code, out], args.join(' ')).toEqual([EXITS[exit].code, ''])
  return err.trimEnd()
}
/** The same without what is to be done next. */
const reasonFor = async (exit: ExitName, ...args: readonly string[]) =>
  (await refused(exit, ...args))
    .split('\n')
    .filter((line) => !/^(next|see): /.test(line))
    .join('\n')
const BECAUSE = ['--reason', 'the card was exchanged'] as const
const file = (name: string, text: string) => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

describe('hosts', () => {
  test('are listed, shown, retired, restored and removed', async () => {
    await shop.shows('other', { seed: 1, devices: [{ kind: 'gpu', handles: 1 }] })
    expect((await said('hosts', 'list')).split('\n')).toEqual([
      'NAME\tLIVENESS\tRETIRED\tLAST SEEN\tDRIVERS',
      expect.stringMatching(/^sim-1\tup\tno\t\S{25}\tsimulated_driver$/),
      expect.stringMatching(/^other\tup\tno\t\S{25}\tsimulated_driver$/),
      '',
    ])
    expect(await said('hosts', 'retire', 'other', ...BECAUSE, '--as', 'kim')).toMatch(
      /^retired\tby kim at \S+: the card was exchanged$/m,
    )
    expect(await json('hosts', 'show', 'other')).toMatchObject({ name: 'other', retired: { by: 'kim' } })
    expect(await said('hosts', 'restore', 'other', ...BECAUSE)).toMatch(/^retired\t-$/m)
    expect(await said('hosts', 'remove', 'other', ...BECAUSE, '--yes')).toBe('host other is removed\n')
    expect((await json('hosts', 'show', 'other')).liveness).toBe('removed')
  })
  test('in use are removed by force only', async () => {
    const { arqs } = await shop.bound()
    expect(await refused('conflict', 'hosts', 'remove', 'sim-1', ...BECAUSE, '--yes')).toMatch(
      new RegExp(`^DELETE /hosts/sim-1\\S+: 409 host sim-1 is in use: .*${arqs[0]!.uuid}; retire it`),
    )
    await said('hosts', 'remove', 'sim-1', ...BECAUSE, '--force', '--yes')
    expect((await shop.arq(arqs[0]!.uuid)).state).toBe('Unbound')
    await said('hosts', 'restore', 'sim-1', ...BECAUSE)
    const devices = [
      { kind: 'fpga', handles: 4, hostWork: false },
      { kind: 'gpu', handles: 1 },
    ] as const
    await shop.shows('sim-1', { seed: 1, devices })
  })
})

describe('handles and requests', () => {
  test('a handle is kept back and given back', async () => {
    const [free] = (await json('handles', 'list', '--state', 'free', '--host', 'sim-1')).handles
    await said('handles', 'quarantine', free.uuid, ...BECAUSE)
    const listed = await said('handles', 'list', '--state', 'quarantined')
    expect(listed.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^UUID\tSTATE\tHOST\tDEPLOYABLE\tARQ$/),
      expect.stringMatching(new RegExp(`^${free.uuid}\tquarantined\tsim-1\t\\S{36}\t-$`)),
    ])
    expect(await said('handles', 'release', free.uuid, ...BECAUSE)).toMatch(/^state\tfree$/m)
  })
  test('a bind is ended by force, and its timeline tells', async () => {
    const { deployables } = (await shop.must(200, 'GET /v2/deployables')).json
    const place = deployables.find((each: { attributes_list: string }) => each.attributes_list.includes('"FPGA"'))
    const [arq] = await shop.newArqs()
    await shop.bind([arq!], crypto.randomUUID(), place.rp_uuid)
    expect(await said('arqs', 'show', arq!.uuid)).toMatch(/^state\tBound$/m)
    expect(await said('arqs', 'force-unbind', arq!.uuid, ...BECAUSE, '--as', 'kim', '--yes')).toMatch(
      /^state\tUnbound$/m,
    )
    expect(await said('arqs', 'show', arq!.uuid, '--timeline')).toMatch(
      /unbound by force\t\d+\tkim\tattach_handle=\S+ code=operator_decided by=kim reason=the card was exchanged$/m,
    )
  })
})

describe('profiles migrate', () => {
  const TOML = '[traits]\nCUSTOM_OLD = "CUSTOM_NEW"\n'
  test('tells what it would do, and does it when asked, from either kind of file', async () => {
    const name = await shop.newProfile(1, { 'trait:CUSTOM_OLD': 'required' })
    const map = file('map.toml', TOML)
    const lines = [expect.stringContaining(name), '  group 0: trait:CUSTOM_OLD -> trait:CUSTOM_NEW']
    expect((await said('profiles', 'migrate', '--map', map)).split('\n')).toEqual([
      ...lines,
      '1 profiles would change, 1 names; --apply does it',
      '',
    ])
    expect((await said('profiles', 'migrate', '--map', map, '--apply', '--reason', 'release 2')).split('\n')).toEqual([
      ...lines,
      '1 profiles changed, 1 names',
      '',
    ])
    const back = file('map.json', JSON.stringify({ traits: { CUSTOM_NEW: 'CUSTOM_OLD' } }))
    expect((await json('profiles', 'migrate', '--map', back)).profiles).toMatchObject([{ name }])
  })
  test('says what is wrong with a file', async () => {
    const bad = (text: string) => reasonFor('usage', 'profiles', 'migrate', '--map', file('bad.toml', text))
    expect(await bad('traits = ')).toMatch(/bad\.toml: Invalid TOML/)
    expect(await bad('[colours]\nred = "blue"\n')).toMatch(
      /bad\.toml: colours: .*; it holds tables traits and classes$/,
    )
    expect(await bad('[traits]\nCUSTOM_A = "HW_B"\n')).toContain(
      '400 Invalid traits.CUSTOM_A: the new name must start with',
    )
    const map = file('map.toml', TOML)
    expect(await reasonFor('usage', 'profiles', 'migrate', '--map', map, '--apply')).toBe('--apply needs --reason')
  })
})

describe('a command that fails', () => {
  test('says what the API said, and ends with the code of that', async () => {
    const uuid = crypto.randomUUID()
    expect(await refused('notFound', 'hosts', 'show', 'nobody')).toMatch(
      /\nnext: accelerando host list\nsee: accelerando error not_found$/,
    )
    expect(await reasonFor('notFound', 'hosts', 'show', 'nobody')).toMatch(
      /^GET \/hosts\/nobody: 404 The host nobody could not be found\. \(req-[\da-f-]{36}\)$/,
    )
    expect(await refused('notFound', 'arqs', 'show', uuid)).toContain(
      `404 The accelerator request ${uuid} could not be found.`,
    )
    expect(await reasonFor('usage', 'handles', 'release', 'x', ...BECAUSE)).toMatch(
      /^POST \/handles\/x\/release: 400 Invalid uuid: it must be a UUID \(req-[\da-f-]{36}\)$/,
    )
    expect(await refused('usage', 'hosts', 'retire', 'sim-1')).toContain(
      "required option '--reason <TEXT>' not specified",
    )
  })
  test('says that nobody is there, and that an address is none', async () => {
    const port = await freePort()
    expect(await refused('unreached', 'hosts', 'list', '--api', `http://127.0.0.1:${port}/v2`)).toContain(
      'cannot be reached: connect',
    )
    expect(await reasonFor('usage', 'hosts', 'list', '--api', 'there')).toBe(
      '--api: there must be the address of the API, like http://127.0.0.1:6666/v2',
    )
  })
})
